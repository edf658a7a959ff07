#!/usr/bin/env python3
"""Copies one step of an HDF5 dump to a smaller file: chunks of 64 KiB at most, their bytes shuffled and packed by gzip. The same
dump gives the same bytes.

    pack.py IN.h5 STEP OUT.h5        pack.py gpt-nano.h5 1001 gpt-nano-babble.h5
"""
import sys

import h5py

CHUNK = 1 << 14  # floats


def properties(kind):
    """Of a file or group: links in the order of their creation, and no times."""
    plist = h5py.h5p.create(kind)
    plist.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
    plist.set_obj_track_times(False)
    return plist


def create(path):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    return h5py.File(h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, properties(h5py.h5p.FILE_CREATE), access))


def pack(source, parent, name):
    target = h5py.Group(h5py.h5g.create(parent.id, name.encode(), gcpl=properties(h5py.h5p.GROUP_CREATE)))
    target.attrs.update(source.attrs)
    for name, item in source.items():
        if isinstance(item, h5py.Group):
            pack(item, target, name)
            continue
        rows = max(1, CHUNK * len(item) // item.size)
        small = item.size < 256  # packing would make it longer
        how = {} if small else {"chunks": (min(rows, len(item)),) + item.shape[1:], "compression": 9, "shuffle": True}
        target.create_dataset(name, data=item[()], track_times=False, **how).attrs.update(item.attrs)


def main(source, step, target):
    with h5py.File(source) as dump:
        groups = [name for name in dump if dump[name].attrs.get("step") == int(step)]
        if len(groups) != 1:
            sys.exit(f"pack.py: {source}: {len(groups)} groups of step {step}, want one")
        with create(target) as out:
            out.attrs.update(dump.attrs)
            pack(dump[groups[0]], out, groups[0])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
