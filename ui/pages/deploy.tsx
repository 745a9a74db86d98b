import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Deployment, DeploymentTargets } from '../../packages/client/src/agent-server.ts'
import { useWork } from '../admin/work.tsx'
import { attempt, client } from '../api.ts'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { saveFile } from '../parts/save-file.ts'

/** What `npm run deploy` would write, to be looked at and downloaded. */
export function DeployPage() {
  const targets = useWork<DeploymentTargets['targets']>()
  const generated = useWork<Deployment>()
  const target = useSignal('')
  const domain = useSignal('')
  useEffect(() => void targets.run(() => client.admin.deploymentTargets()), [])
  const make = () =>
    generated.run(() =>
      client.admin.deploy({ target: target.value, ...(domain.value && { domain: domain.value }) }),
    )
  return (
    <>
      <h1>Deploy</h1>
      <p class="hint">
        Generates the files to deploy this agent with its current configuration. They contain no
        secrets, and nothing is sent anywhere.
      </p>
      <Form class="panel row" onSubmit={make}>
        <Field label="Target">
          <select required {...bound(target)}>
            <option value="">Choose</option>
            {targets.result.value?.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Domain, if you have one" class="grow">
          <input
            value={domain.value}
            placeholder="agent.example.org"
            onInput={({ currentTarget }) => (domain.value = currentTarget.value.trim())}
          />
        </Field>
        <Button icon="deploy" type="submit" class="primary" disabled={generated.isBusy.value}>
          Show files
        </Button>
      </Form>
      <ErrorNote message={targets.failure.value || generated.failure.value} />
      {generated.result.value ? (
        <DeploymentFiles deployment={generated.result.value} />
      ) : (
        <Empty title="Choose a target">
          <p>You will see the files, and any problems with how to fix them.</p>
        </Empty>
      )}
    </>
  )
}

function DeploymentFiles({ deployment }: { deployment: Deployment }) {
  const { target, refusals, warnings, files, secrets } = deployment
  const failure = useSignal('')
  return (
    <div class="stack" role="status">
      <Problems title="Fix these problems before deploying" problems={refusals} />
      <Problems title="Warnings" problems={warnings} />
      {files.length > 0 && (
        <section class="panel stack" aria-labelledby="files">
          <div class="page-head">
            <h2 id="files">Files</h2>
            <Button
              icon="download"
              class="primary"
              onClick={() => void attempt(failure, () => download(target, files))}
            >
              Download zip
            </Button>
          </div>
          <ErrorNote message={failure.value} />
          <p class="hint">
            Unpack the files in the project and continue with DEPLOY.md. Secrets to set:{' '}
            {secrets.join(', ')}.
          </p>
          {files.map(({ name, text }) => (
            <details key={name} class="settings">
              <summary>{name}</summary>
              <CopyButton text={text} name={name} />
              <pre class="code">{text}</pre>
            </details>
          ))}
        </section>
      )}
    </div>
  )
}

function Problems({ title, problems }: { title: string; problems: Deployment['refusals'] }) {
  if (problems.length === 0) return null
  return (
    <section class="panel stack" aria-label={title}>
      <h2>{title}</h2>
      <ul class="stack">
        {problems.map(({ field, message, remedy }) => (
          <li key={field + message}>
            <code>{field}</code> {message}: {remedy}.
          </li>
        ))}
      </ul>
    </section>
  )
}

async function download(target: string, files: Deployment['files']): Promise<void> {
  const { strToU8, zipSync } = await import('fflate')
  const entries = files.map(({ name, text }) => [`deployment/${target}/${name}`, strToU8(text)])
  saveFile(`${target}.zip`, new Blob([zipSync(Object.fromEntries(entries)).slice()]))
}
