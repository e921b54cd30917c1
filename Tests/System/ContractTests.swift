import TestSupport
import Testing

extension SystemTests {
    /// The gateway with all its services, against its own OpenAPI document.
    @Suite("API contract", .timeLimit(.minutes(30)))
    struct Contract {
        @Test("Every route answers valid and invalid requests of every kind of caller as the API's document says")
        func schemathesis() async throws {
            try await withStack(settings: SystemTests.noLimits) { stack in
                let output = try await PythonScript.run(
                    "check_contract.py", ["http://127.0.0.1:\(stack.portal.port)", stack.stateDirectory + "/token"])
                for caller in [
                    "operator", "anonymous", "super user with a cookie", "communicator with a token", "student's device",
                    "student of a class", "teaching assistant of a class", "professor of a class",
                ] {
                    #expect(output.contains("\(caller): "), "\(output)")
                }
                try await stack.healthy()
            }
        }
    }
}
