import { existsSync } from 'node:fs'

/** Whether the package with the models is installed, which is not part of the repository: `packages/pp-ocr/README.md`. */
export const ppOcrInstalled = existsSync(
  new URL('../../node_modules/agent-server-pp-ocr/recognition.onnx', import.meta.url),
)
