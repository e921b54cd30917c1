import FoundationEssentials
import Glibc
import JSON
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi up`: start, stop, and their errors.
    @Suite("msi up", .serialized)
    struct UpTests {
        @Test("Messages, the cube and a phone's subscription are still there after a restart")
        func restart() async throws {
            try await withTemporaryFolder { folder in
                let (phone, subject, cube, messages) = try await withStack(in: folder) { stack in
                    let subject = try await stack.portal.makeSubject("Information")
                    return try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                        let posted = try await stack.portal.post(subject.message(), key: "before")
                        let key = try #require(try posted.json["msi_key"]?.string)
                        _ = try await stack.portal.message(key, hasState: "relayed")
                        _ = try await phone.events(1)
                        let cube = try await stack.portal.call(.GET, "/channel").json
                        return (phone, subject, cube, try await stack.portal.call(.GET, "/message").json)
                    }
                }
                try await withStack(in: folder) { stack in
                    #expect(try await stack.portal.call(.GET, "/channel").json == cube)
                    #expect(try await stack.portal.call(.GET, "/message").json == messages)
                    let replayed = try await stack.portal.post(subject.message(), key: "before")
                    #expect(replayed["Idempotency-Replayed"] == "true")
                    try await stack.withPhone(phone) { phone in
                        let posted = try await stack.portal.post(subject.message(title: "After"))
                        let key = try #require(try posted.json["msi_key"]?.string)
                        let events = try await phone.events(1) { $0.msiKey == key }
                        #expect(events[0].json["data"]?["title"] == "After")
                    }
                }
            }
        }

        @Test("Ctrl-C stops the services one after another in reverse order")
        func stopsInOrder() async throws {
            try await withTemporaryFolder { folder in
                try await withStack(in: folder) { _ in }
                // Each service logs the beginning and the end of its stop. ISO 8601 in UTC sorts as text.
                let moments = try Stack.services.reversed().flatMap { service in
                    let lines = try String(contentsOfFile: "\(folder)/log/\(service).log", encoding: .utf8).split(separator: "\n")
                    return try ["stopping", "stopped"].map { message in
                        let line = try #require(lines.last { $0.contains("\"message\":\"\(message)\"") }, "\(service)")
                        return String(try #require(line.firstMatch(of: /"time":"([^"]+)"/)).1)
                    }
                }
                #expect(moments == moments.sorted())
            }
        }

        @Test("Two stacks run side by side without affecting each other")
        func sideBySide() async throws {
            try await withStack { one in
                try await withStack { other in
                    #expect(one.portal.port != other.portal.port)
                    let subject = try await one.portal.makeSubject("Information")
                    #expect(try await one.portal.post(subject.message()).status == 201)
                    #expect(try await other.portal.post(subject.message()).status == 400)
                    #expect(try await other.portal.call(.GET, "/channel").json == [])
                    #expect(try await other.portal.call(.GET, "/message").json == ["messages": []])
                }
                #expect(try await one.portal.call(.GET, "/health").status == 200)
            }
        }

        @Test("A second msi up with the same state directory is refused, and the first is not affected")
        func sameState() async throws {
            try await withStack { stack in
                let second = try await start(in: stack.stateDirectory)
                #expect(second.exitCode == 1)
                #expect(second.lines.contains { $0.contains(stack.stateDirectory) && $0.contains("another msi is at work") })
                #expect(try await stack.portal.call(.GET, "/health").status == 200)
            }
        }

        @Test(
            "A wrong setting ends msi up at once, with an error that names the setting",
            arguments: [
                (["MSI_GATEWAY_PROT": "1"], "MSI_GATEWAY_PROT"), (["MSI_GATEWAY_PORT": "eighty"], "MSI_GATEWAY_PORT"),
                (["MSI_GATEWAY_HOST": "0.0.0.0"], "MSI_GATEWAY_TLS_CERTIFICATE_FILE"),
                (["MSI_FCM_EMULATOR_PORT": "65536"], "MSI_FCM_EMULATOR_PORT"),
                (["MSI_MESSAGE_TTL": "-1"], "MSI_MESSAGE_TTL"),
                (["MSI_FCM_TOPIC_PAYLOAD_LIMIT": "2e3"], "MSI_FCM_TOPIC_PAYLOAD_LIMIT"),
                (["MSI_CONFIG_FILE": "/nowhere/msi.conf"], "/nowhere/msi.conf"),
                (["MSI_STATE_DIR": "/dev/null/msi"], "/dev/null/msi"),
            ])
        func wrongSetting(settings: [String: String], name: String) async throws {
            try await withTemporaryFolder { folder in
                let end = try await start(in: folder, settings: settings)
                #expect(end.exitCode.map { $0 != 0 } == true)
                #expect(end.lines.contains { $0.contains(name) }, "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("ready") })
            }
        }

        @Test("A port that is taken ends msi up and the services that it has started, with an error that says so")
        func portTaken() async throws {
            try await withStack { stack in
                for name in ["MSI_GATEWAY_PORT", "MSI_FCM_EMULATOR_PORT"] {
                    try await withTemporaryFolder { folder in
                        let port = name == "MSI_GATEWAY_PORT" ? stack.portal.port : stack.fcm.port
                        let end = try await start(in: folder, settings: [name: String(port)])
                        #expect(end.exitCode == 1)
                        #expect(
                            end.lines.contains { $0.contains("port \(port) is in use") && $0.contains(name) }, "\(end.lines)")
                    }
                }
                #expect(try await stack.portal.call(.GET, "/health").status == 200)
            }
        }

        @Test("A phone runs beside the hub, at the address that is said, also if its usual port is taken")
        func phone() async throws {
            try await withStack { first in
                let port = try #require(first.phonePort)
                try await withStack(settings: ["MSI_PHONE_PORT": String(port)]) { second in
                    let other = try #require(second.phonePort)
                    #expect(other != port)
                    for (stack, port) in [(first, port), (second, other)] {
                        let phone = Portal(port: port, http: stack.portal.http, token: nil)
                        #expect(try await phone.call(.GET, "/").status == 200)
                        #expect(try await phone.call(.GET, "/control").json["killed"] == false)
                        // A restarted phone has the same address.
                        try await stack.killAndReplace("msi-phone")
                        try await eventually("the phone's page") { (try? await phone.call(.GET, "/").status) == 200 }
                    }
                }
            }
        }

        @Test("A second phone of the same name is refused; one of another name is not")
        func twoPhones() async throws {
            try await withStack { stack in
                let environment = [
                    "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
                    "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)", "MSI_PHONE_PORT": "0",
                ]
                let path = try BuiltProduct.path(of: "msi-phone")
                let refused = try await withProgram(path, environment: environment) { try await $0.end(within: .seconds(30)) }
                #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("runs already") }, "\(refused.lines)")
                let other = try await withProgram(path, arguments: ["--name", "ann"], environment: environment) {
                    _ = try await $0.line(within: .seconds(30)) { $0.contains("\"ready\"") }
                }
                #expect(other.exitCode == 0, "\(other.lines)")
            }
        }

        @Test("The hub runs also if the phone cannot start")
        func noPhone() async throws {
            try await withTemporaryFolder { folder in
                try Data().write(to: URL(filePath: folder + "/phones"))
                try await withStack(in: folder) { stack in
                    #expect(stack.phonePort == nil)
                    #expect(stack.program.lines.contains { $0.contains("msi-phone did not start") }, "\(stack.program.lines)")
                    try await stack.healthy()
                }
            }
        }

        @Test("A missing executable ends msi up and the services that it has started, with an error that names it")
        func executableMissing() async throws {
            try await withTemporaryFolder { folder in
                let executables = folder + "/some where"
                try FileManager.default.createDirectory(atPath: executables, withIntermediateDirectories: false)
                for name in ["msi"] + ServiceEntry.all.map(\.executable) where name != "msi-cube" {
                    try FileManager.default.copyItem(atPath: BuiltProduct.path(of: name), toPath: "\(executables)/\(name)")
                }
                let end = try await start(executables + "/msi", in: folder + "/state")
                #expect(end.exitCode == 1)
                #expect(end.lines.contains { $0.contains("msi-cube did not start") }, "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("ready") })
            }
        }

        @Test("Ctrl-C during the start stops everything")
        func interruptedStart() async throws {
            try await withTemporaryFolder { folder in
                let end = try await withProgram(
                    try BuiltProduct.path(of: "msi"), arguments: ["up"], environment: settings(in: folder)
                ) { program in
                    try await eventually("the first child") { !program.children.isEmpty }
                    let children = program.children.map(\.id)
                    program.signal(SIGINT)
                    try await program.end(within: .seconds(20))
                    return children
                }
                #expect(end.exitCode == 0)
                #expect(!end.value.contains(where: ProcessTable.isRunning))
            }
        }

        @Test("After a kill of msi up its services end too, and the next start continues with the same state")
        func killed() async throws {
            try await withTemporaryFolder { folder in
                let end = try await withProgram(
                    try BuiltProduct.path(of: "msi"), arguments: ["up"], environment: settings(in: folder)
                ) { program in
                    _ = try await program.line(within: .seconds(60)) { $0.contains("ready") }
                    let children = program.children.map(\.id)
                    #expect(children.count == Stack.services.count)
                    program.signal(SIGKILL)
                    try await eventually("the children of a killed msi up end") {
                        !children.contains(where: ProcessTable.isRunning)
                    }
                }
                #expect(end.exitCode == nil)
                try await withStack(in: folder) { try await $0.healthy() }
            }
        }

        @Test("A start right after a kill waits for the services that are still stopping")
        func formerStack() async throws {
            try await withTemporaryFolder { folder in
                let path = try BuiltProduct.path(of: "msi")
                _ = try await withProgram(path, arguments: ["up"], environment: settings(in: folder)) { program in
                    _ = try await program.line(within: .seconds(60)) { $0.contains("ready") }
                    let services = program.children.map(\.id)
                    // The other end of the services' standard input: they stop when this is closed.
                    let lifeline = open("/proc/\(try #require(services.first))/fd/0", O_WRONLY | O_CLOEXEC)
                    #expect(lifeline >= 0)
                    program.signal(SIGKILL)
                    let next = try await withProgram(path, arguments: ["up"], environment: settings(in: folder)) { program in
                        let line = try await program.line(within: .seconds(10)) { $0.contains("waiting for the services") }
                        for service in Stack.services { #expect(line.contains(service), "\(line)") }
                        #expect(services.allSatisfy(ProcessTable.isRunning))
                        close(lifeline)
                        _ = try await program.line(within: .seconds(60)) { $0.contains("ready") }
                    }
                    #expect(next.exitCode == 0, "\(next.lines)")
                    #expect(!services.contains(where: ProcessTable.isRunning))
                }
            }
        }

        @Test("A service that is told to listen elsewhere is found there, also at a port of the system's choice")
        func movedServices() async throws {
            var settings: [String: String] = [:]
            for service in ServiceEntry.all {
                for socket in service.sockets {
                    let name = Setting<String>.listen(service, socket).declaration.name
                    settings[name] = socket == .commands ? "tcp://127.0.0.1:0" : "tcp://127.0.0.1:*"
                }
            }
            try await withStack(settings: settings) { stack in
                try await stack.healthy()
                let subject = try await stack.portal.makeSubject("Information")
                let key = try #require(try await stack.portal.post(subject.message()).json["msi_key"]?.string)
                _ = try await stack.portal.message(key, hasState: "relayed")
                let sockets = try? FileManager.default.contentsOfDirectory(atPath: stack.stateDirectory + "/run")
                #expect(sockets ?? [] == [])
            }
        }

        @Test("GET /health has the version of each service, which is the one that its program prints")
        func versions() async throws {
            var versions: Set<String> = []
            for service in ServiceEntry.all { versions.insert(try await version(of: service.executable)) }
            for program in ["msi", "msi-load"] { versions.insert(try await version(of: program)) }
            let version = try #require(versions.first)
            #expect(versions.count == 1, "\(versions)")
            try await withStack { stack in
                try await eventually("a health that is well") {
                    try await stack.portal.call(.GET, "/health").json["status"] == "ok"
                }
                let health = try await stack.portal.call(.GET, "/health").json
                let services = ServiceEntry.gateway.startDependencies + [.gateway]
                #expect(health["versions"]?.names == services.map(\.name).sorted())
                for service in services { #expect(health["versions"]?[service.name]?.string == version) }
                #expect(health["parts"]?["message-log"]?["relay"]?["version"]?.string == version)
            }
        }

        /// The version that a program prints for `--version`, after its own name.
        private func version(of program: String) async throws -> String {
            let end = try await withProgram(try BuiltProduct.path(of: program), arguments: ["--version"]) {
                try await $0.end(within: .seconds(20))
            }
            #expect(end.exitCode == 0 && end.lines.count == 1, "\(end.lines)")
            let words = try #require(end.lines.first).split(separator: " ")
            #expect(words.count == 2 && words[0] == program, "\(end.lines)")
            return String(words.last ?? "")
        }

        @Test("Another process cannot say that a service is ready")
        func forgedReadiness() async throws {
            try await withTemporaryFolder { folder in
                let executables = folder + "/bin"
                try FileManager.default.createDirectory(atPath: executables, withIntermediateDirectories: false)
                for name in ["msi"] + ServiceEntry.all.map(\.executable) where name != "msi-fcm-emulator" {
                    try FileManager.default.copyItem(atPath: BuiltProduct.path(of: name), toPath: "\(executables)/\(name)")
                }
                let emulator = executables + "/msi-fcm-emulator"
                let script = """
                    #!/bin/bash
                    python3 -c 'import os, socket
                    name = os.environ["NOTIFY_SOCKET"]
                    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + name[1:])'
                    sleep 0.3
                    """
                try Data(script.utf8).write(to: URL(filePath: emulator))
                #expect(chmod(emulator, 0o700) == 0)
                let end = try await start(executables + "/msi", in: folder + "/state")
                #expect(end.exitCode == 1)
                #expect(end.lines.contains { $0.contains("msi-fcm-emulator did not start") }, "\(end.lines)")
            }
        }

        /// Starts `msi up` with settings that make it fail, and waits for its end.
        private func start(
            _ executable: String? = nil, in folder: String, settings own: [String: String] = [:]
        ) async throws -> ProgramEnd<Void> {
            let environment = settings(in: folder).merging(own) { $1 }
            let end = try await withProgram(
                try executable ?? BuiltProduct.path(of: "msi"), arguments: ["up"], environment: environment
            ) { program in
                var children: Set<Int32> = []
                try await eventually("its end", within: .seconds(30), every: .milliseconds(2)) {
                    children.formUnion(program.children.map(\.id))
                    return !program.isRunning
                }
                #expect(!children.contains(where: ProcessTable.isRunning))
            }
            return end
        }

        private func settings(in folder: String) -> [String: String] {
            ["MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "0", "MSI_FCM_EMULATOR_PORT": "0", "MSI_PHONE_PORT": "0"]
        }
    }
}
