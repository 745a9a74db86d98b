import activityIcon from 'lucide/dist/esm/icons/activity.mjs'
import agentIcon from 'lucide/dist/esm/icons/bot.mjs'
import modelsIcon from 'lucide/dist/esm/icons/boxes.mjs'
import doneIcon from 'lucide/dist/esm/icons/check.mjs'
import pasteIcon from 'lucide/dist/esm/icons/clipboard-paste.mjs'
import columnsIcon from 'lucide/dist/esm/icons/columns-3.mjs'
import downloadIcon from 'lucide/dist/esm/icons/download.mjs'
import moreIcon from 'lucide/dist/esm/icons/ellipsis.mjs'
import addFileIcon from 'lucide/dist/esm/icons/file-plus.mjs'
import testIcon from 'lucide/dist/esm/icons/flask-conical.mjs'
import moveIcon from 'lucide/dist/esm/icons/folder-input.mjs'
import documentsIcon from 'lucide/dist/esm/icons/folder-open.mjs'
import addFolderIcon from 'lucide/dist/esm/icons/folder-plus.mjs'
import webIcon from 'lucide/dist/esm/icons/globe.mjs'
import overviewIcon from 'lucide/dist/esm/icons/house.mjs'
import keysIcon from 'lucide/dist/esm/icons/key-round.mjs'
import chatIcon from 'lucide/dist/esm/icons/message-square.mjs'
import askIcon from 'lucide/dist/esm/icons/message-square-plus.mjs'
import attachIcon from 'lucide/dist/esm/icons/paperclip.mjs'
import editIcon from 'lucide/dist/esm/icons/pencil.mjs'
import startIcon from 'lucide/dist/esm/icons/play.mjs'
import addIcon from 'lucide/dist/esm/icons/plus.mjs'
import refreshIcon from 'lucide/dist/esm/icons/refresh-cw.mjs'
import deployIcon from 'lucide/dist/esm/icons/rocket.mjs'
import retryIcon from 'lucide/dist/esm/icons/rotate-cw.mjs'
import saveIcon from 'lucide/dist/esm/icons/save.mjs'
import searchIcon from 'lucide/dist/esm/icons/search.mjs'
import sendIcon from 'lucide/dist/esm/icons/send.mjs'
import settingsIcon from 'lucide/dist/esm/icons/settings.mjs'
import stopIcon from 'lucide/dist/esm/icons/square.mjs'
import thumbDownIcon from 'lucide/dist/esm/icons/thumbs-down.mjs'
import thumbUpIcon from 'lucide/dist/esm/icons/thumbs-up.mjs'
import deleteIcon from 'lucide/dist/esm/icons/trash.mjs'
import uploadIcon from 'lucide/dist/esm/icons/upload.mjs'
import cancelIcon from 'lucide/dist/esm/icons/x.mjs'
import { h } from 'preact'

/** The pages in the order of the navigation, then the actions. */
const ICONS = {
  overview: overviewIcon,
  documents: documentsIcon,
  search: searchIcon,
  chat: chatIcon,
  agent: agentIcon,
  models: modelsIcon,
  keys: keysIcon,
  activity: activityIcon,
  deploy: deployIcon,
  settings: settingsIcon,
  more: moreIcon,
  add: addIcon,
  addFile: addFileIcon,
  addFolder: addFolderIcon,
  ask: askIcon,
  cancel: cancelIcon,
  attach: attachIcon,
  columns: columnsIcon,
  delete: deleteIcon,
  done: doneIcon,
  download: downloadIcon,
  edit: editIcon,
  move: moveIcon,
  paste: pasteIcon,
  refresh: refreshIcon,
  retry: retryIcon,
  save: saveIcon,
  send: sendIcon,
  start: startIcon,
  stop: stopIcon,
  test: testIcon,
  thumbDown: thumbDownIcon,
  thumbUp: thumbUpIcon,
  upload: uploadIcon,
  web: webIcon,
}

export type IconName = keyof typeof ICONS

/** A picture beside a name, which says everything. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {ICONS[name].map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  )
}
