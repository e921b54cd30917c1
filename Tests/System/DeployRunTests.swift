import TestSupport
import Testing

extension SystemTests {
    /// The README's first command. `UpTests` has what it starts.
    @Suite("deploy/run")
    struct DeployRunTests {
        @Test(
            "An argument starts nothing: deploy/run says what it does",
            arguments: [("--help", 0), ("--port=1", 2)] as [(String, Int32)])
        func arguments(_ argument: String, status: Int32) async throws {
            let script = try BuiltProduct.packageFolder() + "deploy/run"
            let end = try await runProgram(script, [argument])
            #expect(end.exitCode == status)
            #expect(end.lines.contains { $0.contains("MSI_GATEWAY_PORT") }, "\(end.lines)")
            #expect(end.lines.contains { $0.contains("takes no arguments, found: \(argument)") } == (status != 0), "\(end.lines)")
        }
    }
}
