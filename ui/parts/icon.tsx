import activityIcon from 'lucide/dist/esm/icons/activity.mjs'
import openIcon from 'lucide/dist/esm/icons/arrow-up-right.mjs'
import rightIcon from 'lucide/dist/esm/icons/badge-check.mjs'
import referenceIcon from 'lucide/dist/esm/icons/book-open.mjs'
import agentIcon from 'lucide/dist/esm/icons/bot.mjs'
import modelsIcon from 'lucide/dist/esm/icons/boxes.mjs'
import usageIcon from 'lucide/dist/esm/icons/chart-column.mjs'
import doneIcon from 'lucide/dist/esm/icons/check.mjs'
import previousIcon from 'lucide/dist/esm/icons/chevron-left.mjs'
import nextIcon from 'lucide/dist/esm/icons/chevron-right.mjs'
import pasteIcon from 'lucide/dist/esm/icons/clipboard-paste.mjs'
import codeIcon from 'lucide/dist/esm/icons/code.mjs'
import columnsIcon from 'lucide/dist/esm/icons/columns-3.mjs'
import copyIcon from 'lucide/dist/esm/icons/copy.mjs'
import downloadIcon from 'lucide/dist/esm/icons/download.mjs'
import moreIcon from 'lucide/dist/esm/icons/ellipsis.mjs'
import showIcon from 'lucide/dist/esm/icons/eye.mjs'
import hideIcon from 'lucide/dist/esm/icons/eye-off.mjs'
import addFileIcon from 'lucide/dist/esm/icons/file-plus.mjs'
import testIcon from 'lucide/dist/esm/icons/flask-conical.mjs'
import moveIcon from 'lucide/dist/esm/icons/folder-input.mjs'
import documentsIcon from 'lucide/dist/esm/icons/folder-open.mjs'
import addFolderIcon from 'lucide/dist/esm/icons/folder-plus.mjs'
import evaluationIcon from 'lucide/dist/esm/icons/gauge.mjs'
import webIcon from 'lucide/dist/esm/icons/globe.mjs'
import overviewIcon from 'lucide/dist/esm/icons/house.mjs'
import keysIcon from 'lucide/dist/esm/icons/key-round.mjs'
import collectionsIcon from 'lucide/dist/esm/icons/library.mjs'
import linkIcon from 'lucide/dist/esm/icons/link.mjs'
import listIcon from 'lucide/dist/esm/icons/list.mjs'
import signInIcon from 'lucide/dist/esm/icons/log-in.mjs'
import signOutIcon from 'lucide/dist/esm/icons/log-out.mjs'
import commentIcon from 'lucide/dist/esm/icons/message-circle.mjs'
import chatIcon from 'lucide/dist/esm/icons/message-square.mjs'
import feedbackIcon from 'lucide/dist/esm/icons/message-square-heart.mjs'
import askIcon from 'lucide/dist/esm/icons/message-square-plus.mjs'
import conversationsIcon from 'lucide/dist/esm/icons/messages-square.mjs'
import lessIcon from 'lucide/dist/esm/icons/minus.mjs'
import attachIcon from 'lucide/dist/esm/icons/paperclip.mjs'
import editIcon from 'lucide/dist/esm/icons/pencil.mjs'
import startIcon from 'lucide/dist/esm/icons/play.mjs'
import addIcon from 'lucide/dist/esm/icons/plus.mjs'
import refreshIcon from 'lucide/dist/esm/icons/refresh-cw.mjs'
import replaceIcon from 'lucide/dist/esm/icons/replace.mjs'
import deployIcon from 'lucide/dist/esm/icons/rocket.mjs'
import retryIcon from 'lucide/dist/esm/icons/rotate-cw.mjs'
import saveIcon from 'lucide/dist/esm/icons/save.mjs'
import searchIcon from 'lucide/dist/esm/icons/search.mjs'
import sendIcon from 'lucide/dist/esm/icons/send.mjs'
import settingsIcon from 'lucide/dist/esm/icons/settings.mjs'
import shareIcon from 'lucide/dist/esm/icons/share-2.mjs'
import allowIcon from 'lucide/dist/esm/icons/shield-check.mjs'
import stopIcon from 'lucide/dist/esm/icons/square.mjs'
import contextIcon from 'lucide/dist/esm/icons/text-search.mjs'
import thumbDownIcon from 'lucide/dist/esm/icons/thumbs-down.mjs'
import thumbUpIcon from 'lucide/dist/esm/icons/thumbs-up.mjs'
import deleteIcon from 'lucide/dist/esm/icons/trash.mjs'
import undoIcon from 'lucide/dist/esm/icons/undo-2.mjs'
import uploadIcon from 'lucide/dist/esm/icons/upload.mjs'
import cancelIcon from 'lucide/dist/esm/icons/x.mjs'
import { h } from 'preact'

/** The pages in the order of the navigation, then the actions. */
const ICONS = {
  accounts: allowIcon,
  overview: overviewIcon,
  documents: documentsIcon,
  collections: collectionsIcon,
  search: searchIcon,
  chat: chatIcon,
  agent: agentIcon,
  models: modelsIcon,
  keys: keysIcon,
  activity: activityIcon,
  evaluation: evaluationIcon,
  feedback: feedbackIcon,
  usage: usageIcon,
  deploy: deployIcon,
  settings: settingsIcon,
  more: moreIcon,
  add: addIcon,
  addFile: addFileIcon,
  addFolder: addFolderIcon,
  allow: allowIcon,
  ask: askIcon,
  attach: attachIcon,
  cancel: cancelIcon,
  code: codeIcon,
  columns: columnsIcon,
  comment: commentIcon,
  context: contextIcon,
  conversations: conversationsIcon,
  copy: copyIcon,
  delete: deleteIcon,
  done: doneIcon,
  download: downloadIcon,
  edit: editIcon,
  hide: hideIcon,
  less: lessIcon,
  link: linkIcon,
  list: listIcon,
  move: moveIcon,
  next: nextIcon,
  open: openIcon,
  paste: pasteIcon,
  previous: previousIcon,
  reference: referenceIcon,
  refresh: refreshIcon,
  replace: replaceIcon,
  retry: retryIcon,
  right: rightIcon,
  save: saveIcon,
  send: sendIcon,
  share: shareIcon,
  show: showIcon,
  signIn: signInIcon,
  signOut: signOutIcon,
  start: startIcon,
  stop: stopIcon,
  test: testIcon,
  thumbDown: thumbDownIcon,
  thumbUp: thumbUpIcon,
  undo: undoIcon,
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
