import FoundationEssentials
import TestSupport
import Testing

extension SystemTests {
    /// The attributes that a service inherits from its parent: standard descriptors, environment, umask.
    @Suite("Processes", .timeLimit(.minutes(10)))
    struct ProcessTests {
        /// Runs a shell script with the built programs in `PATH` and the folder as `$MSI_STATE_DIR`.
        private func run(_ script: String, in folder: String) async throws -> [String] {
            let programs = ServiceProcess.executables.path(percentEncoded: false)
            let environment = [
                "MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "0", "MSI_FCM_EMULATOR_PORT": "0", "MSI_PHONE_PORT": "0",
                "SWIFT_BACKTRACE": "enable=no",
                "PATH": programs + ":/usr/bin:/bin",
            ]
            let end = try await withProgram("/bin/bash", arguments: ["-c", script], environment: environment) {
                try await $0.end(within: .seconds(300))
            }
            return end.lines
        }

        /// Waits until the service in `$pid` listens for SIGTERM and SIGINT, or has ended.
        private static let untilStoppable =
            "while kill -0 $pid 2>/dev/null && [ $(readlink /proc/$pid/fd/* | grep -c signalfd) -lt 2 ]; do sleep 0.02; done; "

        @Test(
            "A service whose supervisor dies stops with status 0, whenever that happens", arguments: ["msi-cube", "msi-gateway"])
        func supervisorDies(service: String) async throws {
            try await withTemporaryFolder { folder in
                // From before the end of its start until after it.
                let delays = stride(from: 1_000, through: 1_440, by: Level.isAll ? 8 : 80)
                let script = """
                    one() {
                        sleep 0.$1 | MSI_SUPERVISED=true MSI_STATE_DIR=$MSI_STATE_DIR/$1 \(service) 2>$MSI_STATE_DIR/$1.log
                        echo "${PIPESTATUS[1]}"
                    }
                    export -f one
                    printf '%s\\n' \(delays.map(String.init).joined(separator: " ")) | cut -c 2- | xargs -P 8 -I '{}' bash -c 'one {}'
                    """
                let lines = try await run(script, in: folder)
                #expect(lines.count == Array(delays).count)
                #expect(lines.allSatisfy { $0 == "0" }, "\(lines)")
            }
        }

        @Test("A service continues, and stops with status 0, after the reader of its log has ended")
        func closedLog() async throws {
            try await withTemporaryFolder { folder in
                let script =
                    "MSI_LOG_LEVEL=trace msi-cube 2> >(exec true) & pid=$!; " + Self.untilStoppable
                    + "kill -TERM $pid; wait $pid; echo status=$?"
                let lines = try await run(script, in: folder)
                #expect(lines.last == "status=0")
            }
        }

        @Test(
            """
            msi up continues, and stops with status 0, after the reader of its output has ended; its files are for its user only, and a \
            state folder that is open to others is closed to them
            """)
        func closedOutput() async throws {
            try await withTemporaryFolder { folder in
                let script = """
                    umask 022
                    mkdir -m 755 $MSI_STATE_DIR/state
                    export MSI_STATE_DIR=$MSI_STATE_DIR/state
                    msi up > >(exec true) & pid=$!
                    while kill -0 $pid 2>/dev/null && ! grep -qs '"ready"' $MSI_STATE_DIR/log/msi-gateway.log; do sleep 0.05; done
                    stat -c '%a %n' $MSI_STATE_DIR
                    find $MSI_STATE_DIR -ignore_readdir_race -perm /077 -not -type l -printf '%m %p\\n'
                    kill -TERM $pid; wait $pid; echo status=$?
                    find $MSI_STATE_DIR -ignore_readdir_race -perm /077 -not -type l -printf '%m %p\\n'
                    """
                StackCount.started("msi up in a shell")
                let lines = try await run(script, in: folder)
                #expect(lines == ["700 \(folder)/state", "status=0"])
                let log = try String(contentsOfFile: folder + "/state/log/msi-gateway.log", encoding: .utf8)
                #expect(log.contains("\"stopped\""))
            }
        }

        @Test("Closed standard descriptors are opened, so that no file or socket gets their numbers")
        func closedDescriptors() async throws {
            try await withTemporaryFolder { folder in
                let script =
                    "msi-cube <&- >&- 2>&- & pid=$!; " + Self.untilStoppable
                    + "for number in 0 1 2; do readlink /proc/$pid/fd/$number; done; kill -TERM $pid; wait $pid; echo status=$?"
                let lines = try await run(script, in: folder)
                #expect(lines == ["/dev/null", "/dev/null", "/dev/null", "status=0"])
            }
        }

        @Test("A key file that others can read is a warning")
        func readableKey() async throws {
            try await withTemporaryFolder { folder in
                let script = """
                    echo key > $MSI_STATE_DIR/key; echo '{"projects":[]}' > $MSI_STATE_DIR/projects
                    chmod 640 $MSI_STATE_DIR/key $MSI_STATE_DIR/projects
                    export MSI_FCM_SERVICE_ACCOUNT_FILE=$MSI_STATE_DIR/key MSI_FCM_PROJECTS_FILE=$MSI_STATE_DIR/projects
                    sleep 0.1 | MSI_SUPERVISED=true msi-fcm-relay
                    """
                let lines = try await run(script, in: folder)
                for file in ["key", "projects"] {
                    #expect(
                        lines.contains { $0.contains("\"warning\"") && $0.contains("\(folder)/\(file)") && $0.contains("640") },
                        "\(lines)")
                }
            }
        }
    }
}
