import { describe, expect, it } from 'vitest'
import { unsaidWords } from '../../../src/services/tools/fill-form.ts'

describe('The words of a value that a text does not say', () => {
  it.each([
    ['Ada Lovelace', 'Born as Ada Byron, later Lovelace.', []],
    ['ADA', 'ada', []],
    ['Ada', 'Adam', ['ada']],
    ['Paris, France', 'She lives in London, France street.', ['paris']],
    ['1234', 'IBAN 12345', ['1234']],
    ['ﬁle', 'a file', []],
    ['e\u0301te\u0301', 'l’été', []],
    ['東京都', '住所は東京都渋谷区です。', []],
    ['東京都 渋谷区', '住所は東京都渋谷区です。', []],
    ['大阪府', '住所は東京都渋谷区です。', ['大阪府']],
    ['서울', '서울은 크다', []],
    ['กรุงเทพ', 'อยู่ที่กรุงเทพมหานคร', []],
    ['東京 7', '東京 17', ['7']],
    ['مرحبا', 'قال مرحبا', []],
    ['', 'anything', []],
    ['same same', 'other', ['same']],
  ])('%j, of %j', (value, text, missing) => {
    expect(unsaidWords(value, text)).toEqual(missing)
  })
})
