import { Ajv2020 } from 'ajv/dist/2020.js'
import { JobRefusal } from '../../lib/job-process.ts'
import type { FormField, FormValues, OpenedForm } from './form.ts'

type Schema = Record<string, unknown>

/** An object described in JSON Schema; each of its properties is a field. */
export function openSchemaForm(schema: Schema): OpenedForm {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(properties).map(([name, property]) => ({
    ...toField(name, isSchema(property) ? property : {}),
    required: required.includes(name),
  }))
  if (fields.length === 0) throw new JobRefusal('The schema has no properties to fill')
  return {
    fields,
    check: (values) => check(schema, values),
    fill: async (values) => Buffer.from(`${JSON.stringify(values, undefined, 2)}\n`),
  }
}

function toField(name: string, { type, enum: options }: Schema): FormField {
  if (Array.isArray(options)) return { name, kind: 'choice', options: options.map(String) }
  if (type === 'boolean') return { name, kind: 'checkbox' }
  return { name, kind: type === 'number' || type === 'integer' ? 'number' : 'text' }
}

/** Fields may stay empty; what is filled must fit. */
function check(schema: Schema, values: FormValues): string[] {
  const { required: _optional, $schema: _dialect, ...rest } = schema
  try {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
    const validate = ajv.compile(rest)
    if (validate(values)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = '' }) => `${instancePath.slice(1)}: ${message}`,
    )
  } catch (error) {
    throw new JobRefusal(`The schema is none: ${error instanceof Error ? error.message : ''}`)
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
