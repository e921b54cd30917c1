import FoundationEssentials
import Schemas
import ServiceKit

/// The state directory of ``SystemTests/OneProduct/SecondProduct``.
enum SecondState {
    /// Writes an empty database of accounts and the token, as an interrupted first start leaves them, and a copy beside the state directory.
    static func prepare(_ stateDirectory: String) throws -> [String: String] {
        try FileManager.default.createDirectory(
            atPath: stateDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: stateDirectory + "/people.sqlite"))
        let token = Data((Secret.newToken().text + "\n").utf8)
        try token.write(to: URL(filePath: stateDirectory + "/token"))
        try token.write(to: URL(filePath: stateDirectory + ".token"))
        var settings = SystemTests.noLimits
        settings["MSI_PHONE_PORT"] = try SharedStack.current.phonePort.map(String.init)
        for service in ServiceEntry.all {
            for socket in service.sockets {
                let name = Setting<String>.listen(service, socket).declaration.name
                settings[name] = socket == .commands ? "tcp://127.0.0.1:0" : "tcp://127.0.0.1:*"
            }
        }
        return settings
    }
}
