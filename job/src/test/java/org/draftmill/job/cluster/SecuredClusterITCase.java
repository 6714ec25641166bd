package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.apache.flink.configuration.GlobalConfiguration;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The protection of {@code flink-conf/config-cluster.yaml}, with a key of {@code make-keystore.sh}.
 */
@Tag("cluster")
@Timeout(3600)
class SecuredClusterITCase {
  private static final Path CONF = LocalClusterScript.HOME.resolve("flink-conf");
  private static final String PASSWORD = "of-a-test";

  @TempDir Path dir;

  @Test
  void trainsTheSameWeightsAndAnswersOnlyThoseWhoHoldTheKey() throws Exception {
    TestingRuns embedded = TestingRuns.in(Files.createDirectory(dir.resolve("embedded")), 60, true);
    TestingRuns.Result result = embedded.train();
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
    TestingRuns secured = TestingRuns.in(Files.createDirectory(dir.resolve("secured")), 60, true);

    ClusterSpec spec = ClusterSpec.of(2, 3);
    for (Map.Entry<String, String> option : protection(keystore()).entrySet()) {
      spec = spec.with(option.getKey(), option.getValue());
    }
    try (TestingCluster cluster = TestingCluster.start("secured", spec)) {
      cluster.run(secured.arguments()).requireDone();
      URI webUi = cluster.rest().root();

      assertThat(webUi).hasScheme("https");
      assertThatIOException().isThrownBy(() -> statusWithoutKey(webUi.resolve("/overview")));
    }

    TestingRuns.requireEveryJobOnce(secured.runDirectory());
    assertThat(TestingRuns.weights(secured.runDirectory()))
        .isEqualTo(TestingRuns.weights(embedded.runDirectory()));
  }

  private Path keystore() throws Exception {
    Path keystore = dir.resolve("internal.p12");
    ProcessBuilder script =
        new ProcessBuilder(CONF.resolve("make-keystore.sh").toString(), keystore.toString())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("make-keystore.out").toFile());
    script.environment().put("KEYSTORE_PASSWORD", PASSWORD);
    assertThat(script.start().waitFor()).isZero();
    return keystore;
  }

  /** What the shipped file says of TLS, with another key and password. */
  private Map<String, String> protection(Path keystore) throws Exception {
    Path folder = Files.createDirectory(dir.resolve("conf"));
    Files.copy(
        CONF.resolve("config-cluster.yaml"),
        folder.resolve(GlobalConfiguration.FLINK_CONF_FILENAME));
    Map<String, String> options = new TreeMap<>();
    GlobalConfiguration.loadConfiguration(folder.toString())
        .toMap()
        .forEach(
            (key, value) -> {
              if (key.startsWith("security.ssl.") || key.startsWith("taskmanager.data.ssl.")) {
                String used = value.endsWith(".p12") ? keystore.toString() : value;
                options.put(key, key.endsWith("-password") ? PASSWORD : used);
              }
            });
    assertThat(options).containsKeys("security.ssl.internal.keystore", "security.ssl.rest.enabled");
    return options;
  }

  /** As a client that trusts whoever answers, and that nobody knows. */
  private static int statusWithoutKey(URI address) throws Exception {
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new Trusting()}, null);
    HttpClient client = HttpClient.newBuilder().sslContext(trusting).build();
    HttpRequest request = HttpRequest.newBuilder(address).build();
    return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private static final class Trusting extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
