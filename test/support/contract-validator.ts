import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Contract } from './contract.ts'

export interface ContractValidator {
  /** What does not fit the schema at a JSON pointer into the document; nothing where all does. */
  mistakes(pointer: readonly string[], value: unknown): string | undefined
}

/** Checks values against the contract's own schemas, by a validator that had no part in writing them. */
export function createContractValidator(contract: Contract): ContractValidator {
  // Not strict, as OpenAPI has keywords of its own; formats stand beside patterns, which are checked.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(contract, 'contract')
  return {
    mistakes(pointer, value) {
      const path = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
      const validate = ajv.compile({ $ref: `contract#/${encodeURI(path)}` })
      return validate(value) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}
