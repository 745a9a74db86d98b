// Prints each method of the JavaScript client, `documents.list`, with the names of its options.
import { fileURLToPath } from 'node:url'
import ts from '../../client/node_modules/typescript/lib/typescript.js'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const { config } = ts.readConfigFile(at('../../client/tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, at('../../client'))
const entry = at('../../client/src/agent-server.ts')
const program = ts.createProgram([entry], options)
const checker = program.getTypeChecker()
const module = checker.getSymbolAtLocation(program.getSourceFile(entry))
const exports = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]))
const named = (name) => checker.getDeclaredTypeOfSymbol(exports.get(name))

/** Every call takes these. */
const ofAll = named('RequestOptions')
  .getProperties()
  .map(({ name }) => name)

const methods = {}

function visit(type, prefix) {
  for (const property of type.getProperties()) {
    const name = property.valueDeclaration?.name
    if (property.name === 'baseURL' || (name && ts.isPrivateIdentifier(name))) continue
    const inner = checker.getTypeOfSymbol(property)
    const [signature] = inner.getCallSignatures()
    if (signature) methods[prefix + property.name] = signature.parameters.flatMap(optionsIn)
    else visit(inner, `${prefix}${property.name}.`)
  }
}

/** A parameter of one of the contract's shapes is what is sent. */
function optionsIn(parameter) {
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter))
  const origin =
    (type.aliasSymbol ?? type.symbol)?.declarations?.[0]?.getSourceFile().fileName ?? ''
  if (
    !(type.flags & ts.TypeFlags.Object || type.isIntersection()) ||
    checker.isArrayType(type) ||
    origin.endsWith('contract.ts')
  ) {
    return []
  }
  return checker
    .getPropertiesOfType(type)
    .flatMap(({ name }) => (ofAll.includes(name) ? [] : [name]))
}

visit(named('AgentServer'), '')
process.stdout.write(JSON.stringify(methods))
