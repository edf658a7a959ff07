#!/usr/bin/env python3
"""draws.py -- random words and random subsets, written from docs/FORMAT.md alone: plain and slow."""
import functools

MASK = (1 << 32) - 1
BLOCK = 1 << 16
COIN, ATOM, SAMPLE = 1, 2, 3


def philox(x, k0, k1):
    """Philox4x32-10 of Salmon et al."""
    for _ in range(10):
        p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = (q >> 32 ^ x[1] ^ k0, q & MASK, p >> 32 ^ x[3] ^ k1, p & MASK)
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return x


def absorb(state, word):
    word &= (1 << 64) - 1
    return philox((word & MASK, word >> 32, state[2], state[3]), state[0], state[1])


@functools.lru_cache(4096)
def key_of(address, use, block):
    """Returns the key of a generator's address (seed, repeat, worker, step, tensor)."""
    state = (0x61746F6D, 0x6F000001, 0, 0)
    for word in (*address, use, block):
        state = absorb(state, word)
    return state


@functools.lru_cache(4096)
def key_below(address, index, use, block):
    state = (0x61746F6D, 0x6F000001, 0, 0)
    for word in address:
        state = absorb(state, word)
    state = absorb((state[0] ^ 0x62656C6F, *state[1:]), index)
    return absorb(absorb(state, use), block)


def mix(x, b):
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK
    x ^= x >> 15 ^ b
    x = x * 0x846CA68B & MASK
    return x ^ x >> 16


def word64(key, i):
    step = i * 0x9E3779B9
    return mix((step + key[0]) & MASK, key[1]) << 32 | mix((step + key[2]) & MASK, key[3])


def unit(address, use, i):
    return (word64(key_of(address, use, i // BLOCK), i % BLOCK) >> 11) * 2.0**-53


def share_of_block(total, marked, drawn, u):
    """Draws the number of elements in a block by inversion of the hypergeometric distribution, starting at its mode."""
    total, marked, drawn = float(total), float(marked), float(drawn)
    rest = total - marked - drawn
    low, high = max(0.0, -rest), min(marked, drawn)
    mode = min(high, max(low, float(int((drawn + 1) * ((marked + 1) / (total + 2))))))
    order, chances = [mode], [1.0]
    j, w = mode, 1.0
    while j > low and w > 2.0**-80:
        w *= j * (rest + j) / ((marked - j + 1) * (drawn - j + 1))
        j -= 1
        order.append(j)
        chances.append(w)
    j, w = mode, 1.0
    while j < high and w > 2.0**-80:
        w *= (marked - j) * (drawn - j) / ((j + 1) * (rest + j + 1))
        j += 1
        order.append(j)
        chances.append(w)
    whole = 0.0
    for w in chances:
        whole += w
    reached = 0.0
    for j, w in zip(order, chances):
        reached += w
        if reached > u * whole:
            return int(j)
    return int(mode)


def members_of_block(key, size, share):
    picks, members = min(share, size - share), set()
    for i in range(picks):
        top = size - picks + i
        t = word64(key, i) * (top + 1) >> 64
        members.add(top if t in members else t)
    return sorted(members if share <= size // 2 else set(range(size)) - members)


@functools.lru_cache(64)
def subset(address, n, k):
    """Returns the k elements of the subset in increasing order."""
    members = []
    for b in range((n + BLOCK - 1) // BLOCK):
        start = b * BLOCK
        size = min(BLOCK, n - start)
        share = share_of_block(n - start, k - len(members), size, unit(address, ATOM, b))
        members += [start + i for i in members_of_block(key_of(address, SAMPLE, b), size, share)]
    return members


def slice_of(b, n, cols):
    """Returns the first bucket of the slice of block b of n elements, in a row of cols buckets, and the first bucket behind it."""
    blocks = -(-n // BLOCK)
    slices = max(1, min(cols >> 13, blocks))
    starts = [blocks * s // slices for s in range(slices)]
    edges = [cols * BLOCK * start // n for start in starts] + [cols]
    s = max(s for s in range(slices) if starts[s] <= b)
    return edges[s], edges[s + 1]
