#!/bin/sh
# rpm.sh NAME VERSION LIST FOLDER [PROVIDES]: an RPM of the files that LIST names, taken from this system. With an empty list it is only a name
# in rpm's database, for what Debian's package has installed already.
main() {
  set -eu
  name=$1 version=$2 list=$3 folder=$4 provides=${5:-}
  tree=/root/rpmbuild/tree-$name spec=/root/rpmbuild/$name.spec
  mkdir -p "$tree" "$folder"
  : >"$tree.files"
  while IFS= read -r path; do
    case $path in /bin/* | /lib/* | /sbin/*) path=/usr$path ;; esac   # links into /usr, which dpkg still lists by their old names
    if [ -f "$path" ] || { [ -L "$path" ] && [ ! -d "$path" ]; }; then
      mkdir -p "$tree${path%/*}"
      cp -a "$path" "$tree$path"
      printf '"%s"\n' "$path" >>"$tree.files"
    fi
  done <"$list"
  {
    printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: drover lab\nLicense: LGPL-2.1-or-later\nAutoReqProv: no\n' "$name" "$version"
    if [ -n "$provides" ]; then printf 'Provides: %s\n' "$provides"; fi
    printf '%%description\nMade by the drover lab from the Debian package.\n%%install\ncp -a %s/. %%{buildroot}/\n' "$tree"
    if [ -s "$tree.files" ]; then
      printf '%%post\nsystemctl daemon-reload || :\n%%files -f %s\n' "$tree.files"
    else
      printf '%%files\n'
    fi
  } >"$spec"
  rpmbuild --quiet -bb --define '_build_id_links none' --define '__os_install_post %{nil}' --define "_rpmdir $folder" --define '_rpmfilename %%{NAME}.rpm' "$spec"
}
main "$@" </dev/null
