/*
 * Where the key is kept: for the tab, or on the device if its owner asked for that. Never in a URL,
 * a cookie or the query cache.
 */

const name = 'pennytrace.key';

const reading = (storage: () => Storage): string | null => {
  try {
    return storage().getItem(name);
  } catch {
    // Storage that the browser blocks: the key then lasts until the page is closed.
    return null;
  }
};

/** The kept key; null for none. */
export const keptKey = (): string | null => reading(() => sessionStorage) ?? reading(() => localStorage);

/** Forgets the key, wherever it was kept. */
export const forgetKey = (): void => {
  for (const storage of [() => sessionStorage, () => localStorage]) {
    try {
      storage().removeItem(name);
    } catch {
      // Nothing was kept there.
    }
  }
};

/** Keeps a key for the tab, or on the device. */
export const keepKey = (key: string, onDevice: boolean): void => {
  forgetKey();
  try {
    (onDevice ? localStorage : sessionStorage).setItem(name, key);
  } catch {
    // Without storage the key lasts until the page is closed.
  }
};

/** Whether the key is kept on the device. */
export const isOnDevice = (): boolean => reading(() => localStorage) !== null;
