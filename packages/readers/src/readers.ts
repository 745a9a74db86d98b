export { decodeText, encodingOf } from './decode-text.ts'
export { extractFile } from './extract-file.ts'
export {
  type Extracted,
  ExtractionError,
  type ReadText,
} from './extracted.ts'
export { createExtractor, EXTRACT_ENTRY, type Extractor, READING } from './extractor.ts'
export { mediaTypeOfUpload } from './file-kind.ts'
export type { PictureFile } from './pictures.ts'
export { installedOcr } from './recognition/installed.ts'
export { isOldWorkbook, REFUSED, refusedKindOf } from './refusals.ts'
export { type Cell, FIRST_DAY, type SheetTable, type TableRow, toText } from './sheet-tables.ts'
export { tablesOfText, tablesOfWorkbook, type WorkbookTable } from './tables.ts'
export { unlockWorkbook } from './unlock-workbook.ts'
export { openZip, refuseBadZip, type ZipArchive } from './zip-archive.ts'
