import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { messageOf } from './api.ts'
import { Button, Field, Form } from './parts/controls.tsx'
import { Icon } from './parts/icon.tsx'
import { ErrorNote } from './parts/notes.tsx'
import { signIn, signInNote, signInPath } from './session.ts'

export function SignIn() {
  const failure = useSignal('')
  const busy = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  const path = signInPath.value
  // Before it is painted: who types at once loses no letter.
  useLayoutEffect(() => {
    if (path === undefined) field.current?.focus()
  }, [path])

  const submit = async () => {
    const key = field.current?.value.trim() ?? ''
    if (key === '' || busy.value) return
    busy.value = true
    failure.value = ''
    try {
      await signIn(key)
    } catch (error) {
      failure.value = messageOf(error)
      field.current?.select()
    }
    busy.value = false
  }

  return (
    <main class="sign-in">
      <h1>Agent Server</h1>
      {signInNote.value && <p class="note">{signInNote.value}</p>}
      {path !== undefined && (
        <section class="panel stack" aria-labelledby="company">
          <h2 id="company">Your company’s account</h2>
          <a class="button primary" href={`${path}?to=${encodeURIComponent(`/${location.hash}`)}`}>
            <Icon name="signIn" />
            Sign in with your account
          </a>
        </section>
      )}
      <Form class="panel stack" onSubmit={submit}>
        {/* Password managers want a name to keep a password under. */}
        <input
          type="text"
          name="username"
          autocomplete="username"
          value="agent-server"
          hidden
          readOnly
        />
        <Field label="Server key">
          <input ref={field} type="password" name="key" autocomplete="current-password" required />
          <span class="hint">
            The value of <code>SERVER_API_KEY</code>: in the <code>.env</code> file in the server’s
            folder, or from whoever runs the server.
          </span>
        </Field>
        <ErrorNote message={failure.value} />
        <Button
          icon="signIn"
          type="submit"
          class={path === undefined ? 'primary' : ''}
          disabled={busy.value}
        >
          Sign in
        </Button>
      </Form>
    </main>
  )
}
