import { describeArtifactStore } from '../../contracts/artifact-store.contract.ts'
import { createMemoryArtifactStore } from './memory-artifact-store.ts'

describeArtifactStore('The fake in memory', async () => createMemoryArtifactStore())
