/**
 * Gives the browser the language `en` if the one that it has is none, such as `en-US@posix`. The
 * library of charts takes it for its numbers as it loads, and would fail.
 */
export const ensureValidLanguage = (): void => {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
  }
};
