import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { SetupError } from '@agent-server/lib/errors.ts'
import type { OcrEngine } from '../extracted.ts'

const require = createRequire(import.meta.url)
const PP_OCR = 'agent-server-pp-ocr'

/** The engine that a setting names, with its languages (`eng+deu`). Throws a SetupError if it is not installed. */
export function installedOcr(kind: OcrEngine['kind'], languages: string): OcrEngine {
  const directory = ppOcrDirectory()
  if (kind === 'tesseract') {
    const engine = { kind, languages: installedLanguages(languages) }
    return directory === undefined ? engine : { ...engine, ppOcr: directory }
  }
  if (directory !== undefined) return { kind, directory }
  throw new SetupError(`OCR=pp-ocr requires the package ${PP_OCR}: see packages/pp-ocr/README.md`)
}

function ppOcrDirectory(): string | undefined {
  try {
    return dirname(require.resolve(`${PP_OCR}/package.json`))
  } catch {
    return undefined
  }
}

function installedLanguages(setting: string): string[] {
  const languages = setting.split(/[ ,+]/)
  const missing = languages.filter((language) => languageData(language) === undefined)
  if (missing.length === 0) return languages
  const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(' ')
  throw new SetupError(`OCR_LANGUAGES needs a package: npm install ${packages}`)
}

/** The path of a language's data; undefined if its package is not installed. */
export function languageData(language: string): string | undefined {
  try {
    const path = `@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`
    return require.resolve(path)
  } catch {
    return undefined
  }
}
