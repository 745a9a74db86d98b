import { counted, formatNumber, formatSeconds } from '../format.ts'
import { Status } from '../parts/notes.tsx'
import { href } from '../route.ts'
import {
  excerpt,
  fieldsOf,
  nameInWords,
  readOutput,
  serverToConnect,
  wordsOf,
} from './step-words.ts'
import type { Step } from './turns.ts'

/** Only the last ones are shown; a run may make hundreds. */
const MAX_STEPS = 50
const MAX_PASSAGES = 20
/** UTF-16 code units that are shown of a passage, and of any other text. */
const MAX_PASSAGE = 300
const MAX_TEXT = 4_000

/** What the tools did for an answer: folded, in words. */
export function Steps({ steps, isAnswering }: { steps: readonly Step[]; isAnswering: boolean }) {
  const last = steps.at(-1)
  if (!last) return null
  const isBusy = isAnswering && last.output === undefined
  const lastSteps = steps.slice(-MAX_STEPS)
  const left = steps.length - lastSteps.length
  return (
    <details class="settings">
      <summary>{isBusy ? <Status tone="busy">{doing(last)}</Status> : total(steps)}</summary>
      <ul class="steps">
        {left > 0 && <li class="hint">{counted(left, 'earlier step')}</li>}
        {lastSteps.map((step) => (
          <StepView key={step.callId} step={step} />
        ))}
      </ul>
    </details>
  )
}

/** What a call does, and how far it is while it runs. */
const doing = (step: Step): string =>
  step.progress === undefined || step.output !== undefined
    ? wordsOf(step)
    : `${wordsOf(step)}: ${step.progress}`

function total(steps: readonly Step[]): string {
  const failed = steps.filter(({ isError }) => isError).length
  return `${counted(steps.length, 'step')}${failed > 0 ? `, ${failed} without a result` : ''}`
}

/** One call of a tool in a sentence; input and output are folded. */
export function StepView({ step }: { step: Step }) {
  const { input, output, isError, milliseconds } = step
  const tone = isError ? 'bad' : milliseconds === undefined ? 'busy' : 'good'
  return (
    <li>
      <details>
        <summary>
          <Status tone={tone}>
            {doing(step)}
            {milliseconds !== undefined && <span class="hint"> {formatSeconds(milliseconds)}</span>}
          </Status>
        </summary>
        <div class="stack">
          <Input input={input} />
          {output !== undefined && <Output output={output} />}
        </div>
      </details>
      {serverToConnect(step) !== undefined && (
        <a class="button primary" href={href('accounts')}>
          {`Connect ${serverToConnect(step)}`}
        </a>
      )}
    </li>
  )
}

function Input({ input }: { input: unknown }) {
  return (
    <dl class="step-input">
      {fieldsOf(input).map(([name, text]) => (
        <div key={name}>
          <dt>{nameInWords(name)}</dt>
          <dd dir="auto">
            <Text text={text} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Output({ output }: { output: string }) {
  const { passages, rest } = readOutput(output)
  return (
    <>
      {passages.length > 0 && (
        <ol class="sources">
          {passages.slice(0, MAX_PASSAGES).map(({ number, text, source }) => (
            <li key={number}>
              <span class="place">{number}</span>
              <span dir="auto">
                {source && <strong>{source}: </strong>}
                {excerpt(text, MAX_PASSAGE)}
              </span>
            </li>
          ))}
        </ol>
      )}
      {rest !== '' && (
        <pre class="code">
          <Text text={rest} />
        </pre>
      )}
    </>
  )
}

function Text({ text }: { text: string }) {
  const more = text.length - MAX_TEXT
  return (
    <>
      {excerpt(text, MAX_TEXT)}
      {more > 0 && <span class="hint"> {formatNumber(more)} more characters</span>}
    </>
  )
}
