import { isInstalled, MULTILINGUAL_E5 } from '@agent-server/models'

/** Whether the package with the model is installed, which is not part of the repository: `packages/embedders/multilingual-e5/README.md`. */
export const multilingualInstalled = isInstalled(MULTILINGUAL_E5)
