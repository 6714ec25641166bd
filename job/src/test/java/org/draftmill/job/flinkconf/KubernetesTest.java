package org.draftmill.job.flinkconf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.draftmill.job.config.RunFile;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.gpu.GpuResource;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.target.TargetOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The deployment is one that the operator's own definition of the resource accepts. */
class KubernetesTest {
  private static final Path FOLDER = FlinkConf.FOLDER.resolve("kubernetes");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** In the operator's jar; Apache License 2.0. */
  private static final String DEFINITION =
      "/META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml";

  @TempDir Path scratch;

  private final JsonNode deployment = yaml(read(FOLDER.resolve("flinkdeployment.yaml")));

  @Test
  void theDeploymentIsOfTheOperatorsSchema() throws IOException {
    assertThat(deployment.path("apiVersion").asText()).isEqualTo("flink.apache.org/v1beta1");
    assertThat(deployment.path("kind").asText()).isEqualTo("FlinkDeployment");
    assertThat(problems(deployment)).isEmpty();
  }

  @Test
  void mistakesAreFound() throws IOException {
    ObjectNode unknown = deployment.deepCopy();
    ((ObjectNode) unknown.at("/spec/taskManager")).put("resources", "much");
    assertThat(problems(unknown)).singleElement().asString().contains("resources");

    ObjectNode deep = deployment.deepCopy();
    ((ObjectNode) deep.at("/spec/podTemplate/spec/volumes/0/persistentVolumeClaim"))
        .put("claim", "draftmill-shared");
    assertThat(problems(deep)).singleElement().asString().contains("claim");

    ObjectNode type = deployment.deepCopy();
    ((ObjectNode) type.at("/spec/flinkConfiguration")).put("external-resource.gpu.amount", 8);
    assertThat(problems(type)).singleElement().asString().contains("string");

    ObjectNode version = deployment.deepCopy();
    ((ObjectNode) version.at("/spec")).put("flinkVersion", "v2_9");
    assertThat(problems(version)).singleElement().asString().contains("v2_3");
  }

  @Test
  void itsConfigurationIsThatOfOneHost() throws IOException {
    FlinkKeys keys = FlinkKeys.gather();
    Configuration flink = new Configuration();
    deployment
        .at("/spec/flinkConfiguration")
        .properties()
        .forEach(entry -> flink.setString(entry.getKey(), entry.getValue().asText()));
    assertThat(flink.keySet()).allSatisfy(key -> assertThat(keys.find(key)).as(key).isPresent());
    Configuration host = FlinkConf.load(FlinkConf.FOLDER.resolve("config-gpu-host.yaml"), scratch);
    for (String key : flink.keySet()) {
      if (key.matches("taskmanager\\..*|external-resource.*|env\\..*|classloader\\..*")
          && host.containsKey(key)) {
        assertThat(flink.getString(key, "")).as(key).isEqualTo(host.getString(key, ""));
      }
    }
    MemorySize process =
        MemorySize.parse(deployment.at("/spec/taskManager/resource/memory").asText());
    flink.set(TaskManagerOptions.TOTAL_PROCESS_MEMORY, process);
    assertThatCode(() -> TaskExecutorProcessUtils.processSpecFromConfig(flink))
        .doesNotThrowAnyException();
    assertThat(flink.getString("external-resource.gpu.kubernetes.config-key", ""))
        .isEqualTo("nvidia.com/gpu");
  }

  @Test
  void itsRunHasItsSlotsAndGpus() {
    Configuration run = RunFile.read(FOLDER.resolve("run.yaml"), List.of());
    int devices = run.get(TargetOptions.PARALLELISM) + run.get(DrafterOptions.PARALLELISM);
    JsonNode flink = deployment.at("/spec/flinkConfiguration");
    assertThat(flink.path(GpuResource.AMOUNT.key()).asInt()).isEqualTo(devices);
    assertThat(flink.path(TaskManagerOptions.NUM_TASK_SLOTS.key()).asInt())
        .isEqualTo(devices + run.get(PoolOptions.PARALLELISM));
  }

  @Test
  void whatTheDeploymentNamesIsThere() {
    JsonNode storage = yaml(read(FOLDER.resolve("storage.yaml")));
    JsonNode kustomization = yaml(read(FOLDER.resolve("kustomization.yaml")));
    JsonNode volumes = deployment.at("/spec/podTemplate/spec/volumes");
    assertThat(storage.at("/metadata/name"))
        .isEqualTo(volumes.at("/0/persistentVolumeClaim/claimName"));
    assertThat(kustomization.at("/configMapGenerator/0/name"))
        .isEqualTo(volumes.at("/1/configMap/name"));
    for (JsonNode resource : kustomization.path("resources")) {
      assertThat(FOLDER.resolve(resource.asText())).exists();
    }
    String jar = deployment.at("/spec/job/jarURI").asText().replace("local://", "");
    assertThat(read(FOLDER.resolve("Dockerfile"))).contains(jar);
  }

  private static List<Error> problems(JsonNode deployment) throws IOException {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_4)
        .getSchema(schema())
        .validate(deployment);
  }

  /**
   * The schema of the operator's definition. Kubernetes drops what it does not know instead of
   * refusing it, so here every object is closed; and operators from 1.16 on know Flink 2.3.
   */
  private static JsonNode schema() throws IOException {
    try (InputStream in = KubernetesTest.class.getResourceAsStream(DEFINITION)) {
      JsonNode definition = yaml(new String(in.readAllBytes()));
      JsonNode version = definition.at("/spec/versions/0");
      assertThat(version.path("name").asText()).isEqualTo("v1beta1");
      ObjectNode schema = (ObjectNode) version.at("/schema/openAPIV3Schema");
      ObjectNode properties = (ObjectNode) schema.path("properties");
      properties.putObject("apiVersion").put("type", "string");
      properties.putObject("kind").put("type", "string");
      properties.putObject("metadata").put("type", "object");
      close(schema);
      ((ArrayNode) schema.at("/properties/spec/properties/flinkVersion/enum")).add("v2_3");
      return schema;
    }
  }

  private static void close(JsonNode schema) {
    if (schema.has("properties") && schema.path("properties").isObject()) {
      if (!schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()
          && !schema.has("additionalProperties")) {
        ((ObjectNode) schema).put("additionalProperties", false);
      }
    }
    for (Iterator<JsonNode> parts = schema.elements(); parts.hasNext(); ) {
      close(parts.next());
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static JsonNode yaml(String text) {
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(16 << 20).build();
    Object tree = new Load(settings).loadFromString(text);
    return JSON.valueToTree((Map<?, ?>) tree);
  }
}
