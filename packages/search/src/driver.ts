import type { Log } from '@agent-server/lib/log.ts'
import type { Labels, VariableShape, VariableValues } from '@agent-server/lib/variable-types.ts'
import type { ChunkIndex, IndexSource } from './chunk-index.ts'

/** What an index is created with, whichever it is. */
export interface IndexContext {
  /** A folder on this machine that no other index uses. */
  directory: string
  /** `Analyser.fingerprint`: an index with terms of another one is unusable. */
  analyser: string
  source: IndexSource & {
    /** Differs between document stores, which may use the same keys. */
    identity(): Promise<string>
    /** Changes when all vectors are computed again, which makes an index of the former ones unusable. */
    vectorsGeneration(): Promise<number>
  }
  log: Pick<Log, 'warn'>
  /** Called once if the index ends by itself; every call is rejected from then on. */
  onCrash(error: Error): void
}

/** An index beside the one in use, which it is to replace. */
interface NextIndex {
  index: ChunkIndex
  /** Puts it into use, in one step. */
  serve(): Promise<void>
  /** Removes the one used before, and what interrupted runs have left. */
  drop(): Promise<void>
}

/** The engine of an index as a service that a deployment starts along with the server. */
interface IndexService {
  /** Its name in docker-compose.yml, as a host, and of its file in deploy/kubernetes. */
  name: string
  /** The variable with its key, and the setting of the engine that takes the key. */
  key?: { variable: string; setting: string }
}

/** A kind of index, chosen and set up by environment variables. */
export interface ChunkIndexDriver<Shape extends VariableShape = VariableShape> {
  name: string
  variables: Shape
  labels: Labels<Shape>
  /** The variable that chooses it, with its address; absent for an index in this process, which no other server can use. */
  address?: keyof Shape & string
  /** The mistakes in how the variables go together; each variable has been checked by itself. */
  check?(
    set: Readonly<Record<string, string | undefined>>,
  ): readonly { field: string; message: string }[]
  service?: IndexService
  /** Sends no request yet: `ChunkIndex.open` does. */
  create(settings: VariableValues<Shape>, context: IndexContext): Promise<ChunkIndex>
  /** An index to fill, or that of an interrupted run; absent for one that is rebuilt at the start. */
  createNext?(
    settings: VariableValues<Shape>,
    context: IndexContext,
    signal: AbortSignal,
  ): Promise<NextIndex>
}
