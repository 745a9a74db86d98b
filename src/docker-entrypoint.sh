#!/bin/sh
# The entry point of the image: as root, gives /data to the user 1000, as platforms mount volumes as root, and goes on as
# that user. As any other user, which --user or runAsUser says, it is that user from the beginning.
set -e
if [ "$(id -u)" != 0 ]; then exec "$@"; fi
# Contents before the folder itself, so that a later run resumes an interrupted one. A command that ran as root may have
# left a file in a folder that the user already owns.
find "$DATA_DIR" -depth ! -user 1000 -exec chown -h 1000:1000 {} + ||
  echo "$DATA_DIR cannot be given to the user 1000" >&2
setpriv --reuid=1000 --regid=1000 --clear-groups true || {
  echo 'Root cannot be given up: run the container as --user 1000:1000, or with the capabilities SETUID and SETGID' >&2
  exit 1
}
exec setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
