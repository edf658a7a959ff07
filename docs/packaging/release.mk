# release.mk -- what a release consists of.
#
#: make wheel     the Python package for pip install, in build/wheel
#: make dist      a tarball of the committed files, the same bytes each time; make sbom: the libraries, versions and licences
#: make html      the documentation as a small static site, in build/html  (needs pandoc)
#: make deb       Debian packages of the committed files, in build/deb; make deb-check: use them in a bare root

# ---- manual pages: from the texts of --help and list ----

MAN      := $(B)/man
MAN_DATE := $(firstword $(shell git log -1 --format=%cs 2>/dev/null) $(shell date -u -r CHANGELOG.md +%F))

.PHONY: man
man: $(MAN)/done

$(MAN)/done: $(PROGRAMS) docs/packaging/man.sh
	@rm -rf $(MAN) && sh docs/packaging/man.sh $(MAN_DATE) $(MAN) $(PROGRAMS)
	@touch $@

# A wheel for `pip install` that contains the library and the programs.
wheel: all
	@$(PYTHON) lib/python/make_wheel.py $(B)/public/$(SONAME) build/wheel

HTML := build/html
.PHONY: html
html:
	@command -v pandoc >/dev/null || { echo "make html needs pandoc: apt-get install pandoc" >&2; exit 2; }
	@sh docs/site/build.sh $(HTML) $(VERSION) && echo $(HTML)/index.html

# ---- what a release consists of ----

# The committed files as a tarball: the same commit gives the same bytes, whatever the umask, the time zone and git's settings.
DIST := build/atomo-$(VERSION).tar.gz
.PHONY: tarball deb
dist: listcheck
	@$(MAKE) --no-print-directory tarball

tarball:
	@mkdir -p build
	@git -c tar.umask=0022 archive --format=tar --prefix=atomo-$(VERSION)/ -o $(DIST:.gz=) HEAD && gzip -9nf $(DIST:.gz=) && echo $(DIST)

# Debian packages of the committed files, in build/deb; they need dpkg-dev, debhelper, dh-python, pandoc and, to be checked, lintian.
DEB := build/deb
deb:
	@for p in dh dh_python3 dpkg-buildpackage pandoc; do command -v $$p >/dev/null || { echo "make deb needs $$p: apt-get install dpkg-dev debhelper dh-python pandoc lintian" >&2; exit 2; }; done
	@$(MAKE) --no-print-directory tarball
	@rm -rf $(DEB) && mkdir -p $(DEB) && cp $(DIST) $(DEB)/atomo_$(VERSION).orig.tar.gz && tar xzf $(DIST) -C $(DEB)
	@cp -r $(DEB)/atomo-$(VERSION)/docs/packaging/debian $(DEB)/atomo-$(VERSION)/
	@who=$$(git log -1 --format='%an <%ae>') && [ -z "$$DEBEMAIL" ] || who="$${DEBFULLNAME:-$$DEBEMAIL} <$$DEBEMAIL>"; \
	    sed -i "s/@version@/$(VERSION)/; s/@date@/$$(git log -1 --format=%cD)/; s|@maintainer@|$$who|" $(addprefix $(DEB)/atomo-$(VERSION)/debian/,changelog control)
	@sed -e '1,4d' -e 's/^$$/./; s/^/ /' LICENSE | sed -e '/^@licence@/r /dev/stdin' -e '/^@licence@/d' -i $(DEB)/atomo-$(VERSION)/debian/copyright
	@REVISION=$$(git describe --always --abbrev=12); export REVISION; cd $(DEB)/atomo-$(VERSION) && \
	    MAKEFLAGS= dpkg-buildpackage -us -uc >../build.log 2>&1 || { grep -aE 'rror|\*\*\*' ../build.log | cut -c1-300 | tail -20; exit 1; }
	@! command -v lintian >/dev/null || lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error $(DEB)/*.changes
	@ls $(DEB)/*.deb

# Installs, uses and removes the packages in bare Debian roots (as root; Debian: debootstrap).
.PHONY: deb-check
deb-check: deb
	@sh test/packages.sh $(DEB) $(ROOT)

# The libraries that the programs load, with versions and licences (CycloneDX).
SBOM := build/atomo-$(VERSION).cdx.json
sbom: $(PROGRAMS)
	@CC="$(CC)" sh docs/packaging/sbom.sh $(B)/bin/atomo-bench $(VERSION) $(MAN_DATE)T00:00:00Z $(PKGS) $(SCIENCE) $(MPI) >$(SBOM) && echo $(SBOM)
