import { filledText } from '@agent-server/lib/fields.ts'
import { mediaTypeOf } from '@agent-server/lib/media-types.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  BYTES_PER_MEGABYTE,
  type CodeSandbox,
  MAX_CODE,
  MAX_STDIN,
  type SandboxFile,
  type SandboxKind,
  type SessionRun,
} from '@agent-server/sandboxes'
import { z } from 'zod'
import type { Artifacts } from './artifacts.ts'
import { defineTool, type Tool } from './define-tool.ts'
import type { ReadToolFiles } from './tool-files.ts'

/** Maximum files that one call may request. */
const MAX_INPUTS = 8
/** Time beyond the run itself: opening a sandbox, waiting for the previous run, transferring files. */
const EXTRA_MS = 60_000

interface Dependencies {
  sandbox: Pick<CodeSandbox, 'run' | 'limits' | 'unavailable' | 'record'>
  readFiles: ReadToolFiles
}

/** Runs Python code written by the model, in the sandbox of the conversation. */
export function runPython({ sandbox, readFiles }: Dependencies): Tool {
  const { seconds, fileMegabytes } = sandbox.limits
  return defineTool({
    name: 'run_python',
    title: 'Run Python',
    description: `Run Python, at most ${seconds} s. Variables and files last for the conversation; the last expression is shown; new files go to the user. No network or pip, perhaps no numpy.`,
    input: z.object({
      code: filledText(MAX_CODE),
      stdin: z.string().max(MAX_STDIN).optional(),
      files: z
        .array(filledText(300))
        .max(MAX_INPUTS)
        .default([])
        .describe('To copy in: passage numbers, document or art_… ids.'),
    }),
    deadlineMs: seconds * 1_000 + EXTRA_MS,
    unavailable: sandbox.unavailable,
    async run({ code, stdin, files: names }, context, signal) {
      const files = await readFiles(names, context, fileMegabytes * BYTES_PER_MEGABYTE)
      const { sessionId, share: owner } = context
      const result = await sandbox.run(sessionId, { code, stdin, files, owner }, signal)
      const made = await Array.fromAsync(result.files, (file) => keepFile(file, context.artifacts))
      const lacking = /No module named '([\w.]+)'/.exec(result.stderr)?.[1]
      const description = describeRun(result, files, made, seconds)
      return lacking
        ? `${description}\n${explainLack(lacking, (await sandbox.record()).kind)}`
        : description
    },
  })
}

/** Stores a file as an artifact; returns a line about it for the model. */
async function keepFile({ name, bytes }: SandboxFile, artifacts: Artifacts): Promise<string> {
  const mediaType = mediaTypeOf(name)
  try {
    const { id, url } = await artifacts.add({ name, mediaType, bytes })
    const link = mediaType.startsWith('image/') ? `show it with ![${name}](${url})` : url
    return `${name} (${mediaType}, ${bytes.byteLength} bytes, id ${id}): ${link}`
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `${name}: not stored. ${error.message}`
  }
}

function describeRun(
  result: SessionRun,
  inputs: readonly SandboxFile[],
  made: readonly string[],
  seconds: number,
): string {
  const { stdout, stderr, outputCut, filesLeftOut } = result
  return [
    outcomeOf(result, seconds),
    inputs.length > 0 && `Files put in: ${inputs.map(({ name }) => name).join(', ')}`,
    stdout !== '' && `Output:\n${stdout}`,
    stderr !== '' && `Errors:\n${stderr}`,
    stdout === '' && stderr === '' && 'No output.',
    outputCut && 'There was more output, which is dropped: print less.',
    made.length > 0 && `Files made:\n${made.join('\n')}`,
    filesLeftOut > 0 && `${filesLeftOut} more files were too many or too large, or have odd names.`,
  ]
    .filter((line) => line !== false)
    .join('\n')
}

/** Tells the model what there is, so that it does not try one module after another. */
function explainLack(module: string, kind: SandboxKind | 'none'): string {
  const there =
    kind === 'embedded'
      ? 'There is Python’s own library, without threads, processes, ssl, lzma and ctypes; no numpy, no pandas.'
      : 'Python’s own library is there.'
  return `The sandbox has no module ${module}, and nothing can be installed: do without. ${there}`
}

function outcomeOf(
  { outcome, exitCode, milliseconds, fresh }: SessionRun,
  seconds: number,
): string {
  const began = fresh ? ' The sandbox was new: nothing of an earlier call was there.' : ''
  switch (outcome) {
    case 'finished':
      return `Exit code ${exitCode} after ${milliseconds} ms.${began}`
    case 'timed-out':
      return `Ended after ${seconds} s, the most that a call may take. All variables and files are gone.`
    case 'crashed':
      return 'The interpreter ended, perhaps for want of memory. All variables and files are gone.'
  }
}
