import type { Citation } from '@agent-server/schemas/citation.ts'
import { sentencesOf } from './sentences.ts'
import { negates, wordsOf } from './telling-words.ts'

/** UTF-16 code units: a longer answer says more than that the passages do not say something. */
const MAX_ABSTENTION = 2_000

/** Shorter sentences, such as `Sorry.`, only lead to the next. */
const MIN_WORDS = 3

/** What an answer calls its passages, in English, German, Spanish and French. */
const SOURCES =
  /(?<!\p{L})(?:passages?|documents?|excerpts?|texts?|sources?|context(?! menu)|Passagen?|Dokumenten?|Textstellen?|Unterlagen|Abschnitten?|Texten?|Quellen?|pasajes?|documentos?|fragmentos?|textos?|fuentes?|extraits?|textes?)(?!\p{L})/iu
/** What they do not do, or do not hold. */
const SAYING =
  /(?<!\p{L})(?:sa(?:y|ys|id)|stat(?:e|es|ed)|mention(?:s|ed)?|specif(?:y|ies|ied)|indicat(?:e|es|ed)|contain(?:s|ed)?|provide[sd]?|gives?|tells?|answers?|information|f(?:ind|ound)|enthalten|enthält|finden|sag(?:t|en)|steht|stehen|nenn(?:t|en)|erwähn(?:t|en)|genannt|Angaben?|Informationen|Auskunft|Antwort|dic(?:e|en)|menciona[n]?|mencionad[oa]s?|indica[n]?|especifica[n]?|información|respuesta|di(?:t|sent)|mentionn(?:e|ent|é|ée|és|ées)|précis(?:e|ent|é|ée)|indiqu(?:e|ent|é|ée)|informations?|réponse|trouvée?s?)(?!\p{L})/iu

/** `that` and the like after a word: what follows is what the passages say, which may negate without them doing so. */
const WHAT_IS_SAID = /(?<=\p{L}),? (?:that|dass|daß|que) .*/isu
/** What is so only if the passages say nothing. */
const CONDITION = /^\W*(?:if|unless|when|wenn|falls|sofern|si|cuando|quand|lorsque)(?!\p{L})/iu

/** Whether a sentence says that the passages do not say something: such a sentence rests on none of them. */
export function saysNothing(sentence: string): boolean {
  const claim = sentence.replace(WHAT_IS_SAID, '')
  return !CONDITION.test(sentence) && SOURCES.test(claim) && SAYING.test(claim) && negates(claim)
}

/** What says the same without naming a source. */
const NOT_KNOWN = [
  /^\W*(?:(?:sorry|unfortunately|i['\u2019]m sorry|i am sorry|i apologi[sz]e),? (?:but )?)?i (?:(?:do not|don['\u2019]t|cannot|can['\u2019]t|could not|couldn['\u2019]t) (?:know|find|answer|tell|have (?:any |enough )?information)|(?:am|was) unable to)(?!\p{L})/iu,
  /^\W*(?:leider (?:kann|konnte|finde|habe) ich|ich (?:weiß|kann|konnte|finde|habe))(?!\p{L})[^:;,]*(?<!\p{L})(?:nicht|nichts|keine?n?)(?!\p{L})/iu,
  /^\W*(?:lo siento,? (?:pero )?)?no (?:lo )?(?:sé|puedo|pude|encuentro|encontré)(?!\p{L})/iu,
  /^\W*(?:désolée?,? (?:mais )?)?je n(?:e |['\u2019])(?:sais|peux|trouve|ai) (?:pas|rien)(?!\p{L})/iu,
]
/** Behind it, that something is said all the same. */
const ADDS_MORE =
  /[:;]|(?<!\p{L})(?:but|however|except|so|aber|jedoch|also|pero|así|mais|donc)(?!\p{L})/iu
/** An apology, thanks or a heading, which say nothing by themselves. */
const LEAD =
  /^\W*(?:sorry|i['\u2019]m sorry|i am sorry|i apologi[sz]e|my apologies|apologies|thank|es tut mir leid|entschuldigung|danke|vielen dank|lo siento|gracias|je suis désolée?|désolée?|merci)(?!\p{L})|:\W*$/iu

interface Cited {
  citation: Pick<Citation, 'by'>
  statement: string
}

/**
 * Whether an answer says that the passages do not say what was asked, at its beginning or for the most part, and cites
 * them for nothing else. What the server has cited is a copied sentence, which speaks of other documents.
 */
export function abstains(answer: string, cited: readonly Cited[]): boolean {
  if (answer.length > MAX_ABSTENTION) return false
  const hasSource = cited.some(
    ({ citation, statement }) => citation.by === 'server' || !saysNothing(statement),
  )
  if (hasSource) return false
  const sentences = sentencesOf(answer)
    .map(({ start, end }) => answer.slice(start, end))
    .filter(
      (sentence) =>
        isEmpty(sentence) || !(LEAD.test(sentence) || wordsOf(sentence).length < MIN_WORDS),
    )
  const [first = ''] = sentences
  return saysNothing(first) || sentences.filter(isEmpty).length * 2 > sentences.length
}

/** Whether a sentence says that something is not said, or not known, and no more. */
function isEmpty(sentence: string): boolean {
  if (saysNothing(sentence)) return true
  const claim = sentence.replace(WHAT_IS_SAID, '')
  const begins = NOT_KNOWN.map((pattern) => pattern.exec(claim)?.[0]).find(Boolean)
  return begins !== undefined && !ADDS_MORE.test(claim.slice(begins.length))
}
