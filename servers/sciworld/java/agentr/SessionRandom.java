package agentr;

import java.util.Random;

// Takes the place of the one generator behind scala.util.Random: draws from the stream of the
// session that the calling thread is in.
public final class SessionRandom extends Random {
  private static final long serialVersionUID = 1;

  private static Random stream() {
    return Session.current().random;
  }

  @Override
  public void setSeed(long seed) {
    stream().setSeed(seed);
  }

  @Override
  public boolean nextBoolean() {
    return stream().nextBoolean();
  }

  @Override
  public void nextBytes(byte[] bytes) {
    stream().nextBytes(bytes);
  }

  @Override
  public double nextDouble() {
    return stream().nextDouble();
  }

  @Override
  public float nextFloat() {
    return stream().nextFloat();
  }

  @Override
  public double nextGaussian() {
    return stream().nextGaussian();
  }

  @Override
  public int nextInt() {
    return stream().nextInt();
  }

  @Override
  public int nextInt(int bound) {
    return stream().nextInt(bound);
  }

  @Override
  public long nextLong() {
    return stream().nextLong();
  }
}
