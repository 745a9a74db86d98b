import { describe, expect, it } from 'vitest'
import { detectLanguage } from '../../src/analyser/detect-language.ts'

describe('detectLanguage', () => {
  it.each([
    ['english', 'The library opens at nine on weekdays, and on Saturdays it opens at ten.'],
    ['german', 'Die Bibliothek öffnet werktags um neun Uhr und am Samstag erst um zehn.'],
    ['german', 'Wann fährt die Linie 7?'],
    ['french', 'La bibliothèque ouvre à neuf heures, mais elle n’ouvre pas le dimanche.'],
    ['spanish', '¿Cuándo abre la biblioteca los sábados y por qué no abre antes?'],
    ['romanian', 'Biblioteca se deschide la ora nouă, dar nu este deschisă în toate zilele.'],
    ['polish', 'Biblioteka jest otwarta od dziewiątej, ale w soboty dopiero od dziesiątej.'],
    ['vietnamese', 'Thư viện mở cửa vào lúc chín giờ và không mở vào các ngày lễ.'],
    ['russian', 'Библиотека открывается в девять, а по субботам она открыта не раньше десяти.'],
    ['greek', 'Η βιβλιοθήκη ανοίγει στις εννέα.'],
    ['japanese', '図書館は平日九時に開きます。'],
    ['chinese', '图书馆平日九点开门。'],
    ['korean', '도서관은 평일 아홉 시에 엽니다.'],
    ['thai', 'ห้องสมุดเปิดเวลาเก้าโมง'],
    ['arabic', 'تفتح المكتبة في الساعة التاسعة، وهي لا تفتح يوم الجمعة.'],
  ])('finds %s in %s', (language, text) => {
    expect(detectLanguage(text, 'english')).toBe(language)
  })

  it.each([
    '',
    '4711',
    'opening hours',
    'Kündigungsfrist',
    'a | b | 12 | 13\nc | d | 5 | 6',
    'ERR_CONNECTION_REFUSED 127.0.0.1:5432',
  ])('does not guess at %j', (text) => {
    expect(detectLanguage(text, 'english')).toBeUndefined()
  })

  it('takes the expected language where a word of another is quoted', () => {
    const text = 'The sign says 出口, which is the word for an exit of the station.'
    expect(detectLanguage(text, 'english')).toBe('english')
  })

  it('looks at the beginning of a long text', () => {
    const text = 'The library opens at nine. '.repeat(100_000)
    const before = performance.now()
    expect(detectLanguage(text, 'german')).toBe('english')
    expect(performance.now() - before).toBeLessThan(500)
  })
})
