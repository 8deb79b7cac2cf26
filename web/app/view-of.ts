import { lazyRouteComponent } from '@tanstack/react-router';
import { connectionFailure } from '../api/errors.ts';

/** @throws RequestFailed if nothing answers where the page came from */
const requireService = async (): Promise<void> => {
  try {
    await fetch(document.baseURI, { cache: 'no-store' });
  } catch (error) {
    throw connectionFailure(error, false);
  }
};

/**
 * A view that loads when it is first shown.
 *
 * The router loads the page anew if a file of a view is gone, since an update replaces all files.
 * Without a connection, the browser's own error would then take the place of the page. So the view
 * fails with a `RequestFailed` instead, and loads when it is next shown.
 */
export const viewOf = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      await requireService();
      throw error;
    }
  }, name);
