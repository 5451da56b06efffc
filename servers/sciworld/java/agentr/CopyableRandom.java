package agentr;

import java.util.Random;

// The same numbers as java.util.Random (the algorithms are those of its documentation), whose state
// can be copied.
public final class CopyableRandom extends Random {
  private static final long serialVersionUID = 1;
  private static final long MASK = (1L << 48) - 1;

  private long seed;
  private double secondGaussian = Double.NaN;  // NaN: none is left

  public CopyableRandom(long seed) {
    super(seed);  // calls setSeed
    secondGaussian = Double.NaN;
  }

  public CopyableRandom copy() {
    final CopyableRandom copy = new CopyableRandom(0);
    copy.seed = seed;
    copy.secondGaussian = secondGaussian;
    return copy;
  }

  @Override
  public void setSeed(long value) {
    seed = (value ^ 0x5DEECE66DL) & MASK;
    secondGaussian = Double.NaN;
  }

  @Override
  protected int next(int bits) {
    seed = (seed * 0x5DEECE66DL + 0xBL) & MASK;
    return (int) (seed >>> (48 - bits));
  }

  @Override
  public double nextGaussian() {
    if (!Double.isNaN(secondGaussian)) {
      final double left = secondGaussian;
      secondGaussian = Double.NaN;
      return left;
    }
    while (true) {
      final double x = 2 * nextDouble() - 1;
      final double y = 2 * nextDouble() - 1;
      final double square = x * x + y * y;
      if (square >= 1 || square == 0) continue;
      final double factor = StrictMath.sqrt(-2 * StrictMath.log(square) / square);
      secondGaussian = y * factor;
      return x * factor;
    }
  }
}
