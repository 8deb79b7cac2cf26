/** Saves bytes as a file, as a download does. */
export const saveFile = (blob: Blob, fileName: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  // The browser reads it a moment later.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

/**
 * Opens bytes in a tab of their own, which cannot reach the page. Only for types that a browser shows by
 * itself, such as PDF: HTML would be a document of the page's origin.
 */
export const openFile = (blob: Blob): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.target = '_blank';
  link.rel = 'noopener';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
