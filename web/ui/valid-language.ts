// A browser may have a language that is none, such as `en-US@posix`. The library of charts takes it
// for its numbers as it loads, and would fail.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
