import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// The README's first command.
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

        @Test(
            "deploy/run starts everything, and a message can be posted once it prints ready; if nothing has changed, it builds nothing"
        )
        func run() async throws {
            let script = try BuiltProduct.packageFolder() + "deploy/run"
            try await withTemporaryFolder { folder in
                // `swift test` locks the build folder until its tests have ended. The lock is a file in the temporary folder.
                // With another temporary folder the script's build does not wait for it. All files are built already.
                let settings = ["TMPDIR": folder, "BUILD_CONFIGURATION": ServiceProcess.executables.lastPathComponent]
                let build = try await withProgram(
                    BuiltProduct.packageFolder() + "deploy/build", environment: settings
                ) { try await $0.end(within: .seconds(600)) }
                #expect(build.exitCode == 0, "\(build.lines)")
                try await withStack(in: folder + "/state", settings: settings, script: script) { stack in
                    // A build would say so first.
                    #expect(stack.program.lines.first?.hasPrefix("first start") == true, "\(stack.program.lines)")
                    let identity = try #require(stack.identity, "\(stack.program.lines)")
                    #expect(try await identity.call(.GET, "/").status == 200)
                    let subject = try await stack.portal.makeSubject("Alert")
                    try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                        let posted = try await stack.portal.post(subject.message())
                        #expect(posted.status == 201)
                        _ = try await phone.events(2)
                    }
                }
            }
        }
    }
}
