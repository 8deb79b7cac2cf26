import type { ComponentProps } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  /** @default 'plain' */
  readonly kind?: 'plain' | 'primary' | 'quiet';
}

/** A button. It submits nothing unless it is told to. */
export const Button = ({ kind = 'plain', type = 'button', className = '', ...props }: ButtonProps) => (
  <button type={type} className={`button ${kind} ${className}`} {...props} />
);
