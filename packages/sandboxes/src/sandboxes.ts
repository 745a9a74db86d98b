export { type CodeSandbox, openCodeSandbox, type SandboxSettings } from './code-sandbox.ts'
export { sandboxes } from './feature.ts'
export { SANDBOX_LIMITS, SandboxLimits } from './limits.ts'
export { PROBE_NAMES } from './report.ts'
export {
  BYTES_PER_MEGABYTE,
  isFileName,
  MAX_CODE,
  MAX_STDIN,
  type RunRequest,
  type RunResult,
  SANDBOX_KINDS,
  type Sandbox,
  type SandboxFile,
  type SandboxKind,
  type SandboxSession,
  type SessionRun,
} from './sandbox.ts'
