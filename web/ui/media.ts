import { useSyncExternalStore } from 'react';

/** Whether the window is as a media query says, now and whenever that changes. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );

/** Below this width, a phone's, there is no room for columns, nor for the side bar. */
export const phone = '(width < 700px)';
