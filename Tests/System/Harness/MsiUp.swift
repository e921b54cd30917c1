import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Runs `msi up` until it is ready, and a body, and stops it as by Ctrl-C.
///
/// - Parameter executable: Another `msi` than the built one.
func withUp<Value: Sendable>(
    _ executable: String? = nil, in folder: String, _ body: @Sendable (RunningProgram) async throws -> Value
) async throws -> ProgramEnd<Value> {
    StackCount.started("msi up")
    return try await withProgram(
        executable ?? "msi", arguments: ["up"], environment: upSettings(in: folder)
    ) { program in
        _ = try await program.line(within: .seconds(300)) { $0.contains("  stop ") }
        return try await body(program)
    }
}

/// Starts `msi up` so that it fails, and waits for its end and that of the services that it has started.
func withFailingUp(
    _ executable: String? = nil, in folder: String, settings own: [String: String] = [:]
) async throws -> ProgramEnd<Void> {
    try await withProgram(
        executable ?? "msi", arguments: ["up"], environment: upSettings(in: folder).merging(own) { $1 }
    ) { program in
        var children: Set<Int32> = []
        try await eventually("its end", every: .milliseconds(2)) {
            children.formUnion(program.children.map(\.id))
            return !program.isRunning
        }
        #expect(!children.contains(where: ProcessTable.isRunning))
    }
}

/// The settings of an `msi up` beside others.
func upSettings(in folder: String) -> [String: String] {
    [
        "MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "0", "MSI_FCM_EMULATOR_PORT": "0", "MSI_IDENTITY_EMULATOR_PORT": "0",
        "MSI_PHONE_PORT": "0",
    ]
}

/// A folder of the product's executables, of which a test may replace some.
struct Executables: Sendable {
    private let folder: String

    init(in folder: String) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        // The folder of `msi` is where the others are looked for, so it is a copy.
        try await ExecutableFile.copy(BuiltProduct.path(of: "msi"), to: folder + "/msi")
        for name in Stack.services {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: BuiltProduct.path(of: name))
        }
    }

    var msi: String { folder + "/msi" }

    /// Puts an executable script in the place of a program.
    func replace(_ name: String, _ script: String) async throws {
        try remove(name)
        try await ExecutableFile.write(script, to: "\(folder)/\(name)")
    }

    func remove(_ name: String) throws {
        guard unlink("\(folder)/\(name)") == 0 else { throw TooLate("\(name) cannot be removed") }
    }
}
