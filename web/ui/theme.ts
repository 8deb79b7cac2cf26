/** What the page looks like. */
export type Theme = 'system' | 'light' | 'dark';

const name = 'pennytrace.theme';

const isTheme = (value: unknown): value is Theme =>
  value === 'system' || value === 'light' || value === 'dark';

/** The theme that was chosen on this device. */
export const chosenTheme = (): Theme => {
  try {
    const kept = localStorage.getItem(name);
    return isTheme(kept) ? kept : 'system';
  } catch {
    return 'system';
  }
};

/** Applies a theme. The tokens follow `color-scheme`. */
export const applyTheme = (theme: Theme): void => {
  document.documentElement.dataset.theme = theme;
};

/** Applies a theme and keeps it on the device. */
export const chooseTheme = (theme: Theme): void => {
  applyTheme(theme);
  try {
    localStorage.setItem(name, theme);
  } catch {
    // It lasts until the page is closed.
  }
};
