import './style/base.css'
import './style/controls.css'
import './style/parts.css'
import './style/shell.css'
import './style/pages.css'
import './style/documents.css'
import './style/search.css'
import './style/answer.css'
import './style/chat.css'
import './style/composer.css'
import './style/code.css'
import './style/formulas.css'
import './style/reader.css'
import './style/original.css'
import './style/admin.css'
import './style/activity.css'
import { render } from 'preact'
import { beginSession, phase } from './session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import './theme.ts'

function WebUi() {
  if (phase.value === 'unknown') return null
  return phase.value === 'signed-in' ? <Shell /> : <SignIn />
}

const root = document.getElementById('web-ui')
if (root) render(<WebUi />, root)
// The first view does not wait for its font.
void beginSession().then(() => import('./fonts.ts'))
