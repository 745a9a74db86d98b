import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const PROGRAM = 'tesseract.js-core/tesseract-core-simd-lstm'

/** The part of the compiled program that is used here. */
export interface Core {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
  TessBaseAPI: new () => {
    Init(path: null, languages: string, engine: number): number
    /** Enough to read images. */
    InitForAnalysePage(): void
    /** Reads `/input`; returns 1 if it is not a supported image. */
    SetImageFile(orientation: number, radians: number): number
    GetInputImage(): Pixels
    End(): void
    SetPageSegMode(layout: number): void
    FindLines(): void
    GetGradient(): number
    Recognize(monitor: null): number
    SetVariable(name: string, value: string): boolean
    GetThresholdedImage(): Pixels
    GetUTF8Text(): string
    /** A line for each part of the page, its fields divided by tabs. */
    GetTSVText(page: number): string
    /** Whether the dictionary of the language has it: 0 if it does not. */
    IsValidWord(word: string): number
    MeanTextConf(): number
    Clear(): void
  }
}

/** An image of Leptonica: https://tpgit.github.io/Leptonica/pix_8h_source.html. */
interface Pixels {
  get_w(): number
  get_h(): number
  /** Bits of a pixel: 1, 8 or 32. */
  get_d(): number
  /** Samples of a pixel: with the fourth comes opacity. */
  get_spp(): number
  /** Words of 32 bits in a row. */
  get_wpl(): number
  /** Where its rows are in memory. */
  get_data(): number
}

interface Instance {
  exports: Record<string, unknown>
}

/** The part of WebAssembly used here: TypeScript has its types only with those of browsers, which are not loaded. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new () => { buffer: ArrayBuffer }
    instantiate(program: Buffer, imports: object): Promise<{ instance: Instance; module: object }>
  }
}

/** Starts the compiled program of Tesseract, and Leptonica with it, in memory of its own. */
export async function startCore() {
  const createCore: (options: object) => Promise<Core> = require(PROGRAM)
  const program = await readFile(require.resolve(`${PROGRAM}.wasm`))
  let exports: readonly unknown[] = []
  const core = await createCore({
    print: () => undefined,
    printErr: () => undefined,
    instantiateWasm(imports: object, use: (instance: Instance, module: object) => void) {
      void webAssembly.instantiate(program, imports).then(({ instance, module }) => {
        exports = Object.values(instance.exports)
        use(instance, module)
      })
      return {}
    },
  })
  const memory = exports.find((one) => one instanceof webAssembly.Memory)
  if (!memory) throw new Error('The program of Tesseract has no memory')
  return { core, memory }
}
