import './style/base.css'
import './style/controls.css'
import './style/parts.css'
import './style/shell.css'
import './style/pages.css'
import './style/search.css'
import './style/chat.css'
import './style/admin.css'
import './style/activity.css'
import { render } from 'preact'
import { beginSession, phase } from './session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import './theme.ts'

function Screen() {
  if (phase.value === 'unknown') return null
  return phase.value === 'signed-in' ? <Shell /> : <SignIn />
}

const root = document.getElementById('screen')
if (root) render(<Screen />, root)
void beginSession()
