# the shared library exports only the names of atomo.h
? command -v nm
$ nm -D --defined-only "$PUBLIC/libatomo.so" | awk '{print $3}' | sort >exported; sed -n 's/^[a-z].*[ *]\(atomo_[a-z_]*\)(.*/\1/p' "$SRC/lib/atomo.h" | sort >declared; diff exported declared
>
= 0

# the static library exports no other name either
? command -v nm
$ nm -g --defined-only "$PUBLIC/libatomo.a" | awk 'NF == 3 {print $3}' | grep -v '^atomo_\|^__llvm_profile'
>
= 1

# the example of the document builds with the shared library, and runs
? ! nm -D "$PUBLIC/libatomo.so" | grep -q asan
$ awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$SRC/docs/library.md" >e.c; cc -std=c11 -Wall -Wextra -Werror -I"$SRC/lib" e.c -o e -L"$PUBLIC" -latomo -Wl,-rpath,"$PUBLIC" && ./e && wc -l <e.c | awk '{print ($1 <= 60 ? "short" : "long")}'
> * bytes instead of 25600, relative error 0.*
> short
= 0

# the header can be compiled as C and as C++
? command -v g++
$ echo '#include <atomo.h>' >h.cc; g++ -std=c++98 -Wall -Wextra -Werror -pedantic -Wcomment -I"$SRC/lib" -c h.cc && echo '#include <atomo.h>' >h.c && cc -std=c99 -Wall -Wextra -Werror -pedantic -Wcomment -Wstrict-prototypes -I"$SRC/lib" -c h.c && echo fine
> fine
= 0

# the library is installed, found by pkg-config, and uninstalled
? command -v pkg-config && ! nm -D "$PUBLIC/libatomo.so" | grep -q asan
$ make -s -C "$SRC" install DESTDIR="$PWD/root" prefix=/usr >log 2>&1; export PKG_CONFIG_PATH="$PWD/root/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$PWD/root"; awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$SRC/docs/library.md" >e.c; cc e.c -o e $(pkg-config --cflags --libs atomo) && LD_LIBRARY_PATH="$PWD/root/usr/lib" ./e; cc e.c -o static $(pkg-config --cflags --libs --static atomo | sed 's/-latomo/-l:libatomo.a/') && ./static; make -s -C "$SRC" uninstall DESTDIR="$PWD/root" prefix=/usr; find root -type f
> * bytes instead of 25600, *
> * bytes instead of 25600, *
- root/*
= 0

# the installed package of Python finds the library of its prefix
? /usr/bin/python3 -c 'import numpy' && ! nm -D "$PUBLIC/libatomo.so" | grep -q asan
$ make -s -C "$SRC" install DESTDIR="$PWD/root" prefix=/usr >log 2>&1; unset ATOMO_LIBRARY; PYTHONPATH="$PWD/root/usr/lib/python3/dist-packages" /usr/bin/python3 -c 'import atomo; print(atomo.Codec("qsgd:bits=4"), atomo.__file__)'
> Codec('qsgd:bits=4') */root/usr/lib/python3/dist-packages/atomo/__init__.py
= 0
