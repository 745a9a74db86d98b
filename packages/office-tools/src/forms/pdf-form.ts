import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  PDFCheckBox,
  PDFDocument,
  PDFDropdown,
  type PDFField,
  PDFHexString,
  PDFName,
  PDFOptionList,
  PDFRadioGroup,
  PDFString,
  PDFTextField,
} from '@cantoo/pdf-lib'
import type { FormField, FormValue, OpenedForm } from './form.ts'
import { loadFormFonts } from './form-fonts.ts'
import { createFieldPen } from './pdf-layout.ts'

/** Opens a PDF with form fields. Throws `Refusal` if it has none, has a password, or is no PDF. */
export async function openPdfForm(bytes: Uint8Array): Promise<OpenedForm> {
  const document = await open(bytes)
  const form = document.getForm()
  const fields = form.getFields().flatMap(toField)
  if (fields.length === 0) throw new Refusal('The PDF has no fields to fill')
  const fonts = await loadFormFonts()

  return {
    fields,
    check: (values) =>
      Object.entries(values).flatMap(([name, value]) => {
        const text = String(value)
        const field = form.getField(name)
        const mistake = fonts.mistakeIn(text) ?? tooLong(field, text)
        return mistake === undefined ? [] : [`${name}: ${mistake}`]
      }),
    async fill(values) {
      const draw = createFieldPen(document, fonts)
      for (const [name, value] of Object.entries(values)) {
        const field = form.getField(name)
        write(field, value)
        // The fonts embedded in forms render scripts other than Latin as question marks.
        await draw(field, String(value))
      }
      return document.save({ updateFieldAppearances: false })
    },
  }
}

async function open(bytes: Uint8Array): Promise<PDFDocument> {
  try {
    return await PDFDocument.load(bytes)
  } catch (error) {
    const isLocked = error instanceof Error && /encrypt/i.test(error.message)
    throw new Refusal(isLocked ? 'The PDF has a password' : 'The file is not a PDF')
  }
}

function toField(field: PDFField): FormField[] {
  const hint = hintOf(field)
  const shared = {
    name: field.getName(),
    required: field.isRequired(),
    ...(hint !== '' && hint !== field.getName() && { hint }),
  }
  if (field instanceof PDFTextField) {
    const maxLength = field.getMaxLength()
    return [{ ...shared, kind: 'text', ...(maxLength !== undefined && { maxLength }) }]
  }
  if (field instanceof PDFCheckBox) return [{ ...shared, kind: 'checkbox' }]
  return isChoice(field) ? [{ ...shared, kind: 'choice', options: field.getOptions() }] : []
}

const MAX_HINT = 300

/** The tooltip that viewers show for the field. */
function hintOf({ acroField }: PDFField): string {
  const tooltip = acroField.dict.lookup(PDFName.of('TU'))
  const isText = tooltip instanceof PDFString || tooltip instanceof PDFHexString
  return isText ? tooltip.decodeText().replaceAll(/\s+/g, ' ').trim().slice(0, MAX_HINT) : ''
}

function write(field: PDFField, value: FormValue): void {
  if (field instanceof PDFTextField) field.setText(String(value))
  else if (field instanceof PDFCheckBox) {
    if (value) field.check()
    else field.uncheck()
  } else if (isChoice(field)) field.select(String(value))
}

function isChoice(field: PDFField): field is PDFDropdown | PDFOptionList | PDFRadioGroup {
  return (
    field instanceof PDFDropdown || field instanceof PDFOptionList || field instanceof PDFRadioGroup
  )
}

function tooLong(field: PDFField, text: string): string | undefined {
  const most = field instanceof PDFTextField ? field.getMaxLength() : undefined
  if (most === undefined || text.length <= most) return undefined
  return `must not have more than ${most} characters`
}
