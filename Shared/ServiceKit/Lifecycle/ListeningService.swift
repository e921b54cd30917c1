import Glibc
import NIOCore
package import ServiceLifecycle
import SystemPackage

/// An HTTP server on a port. Its failure names the port, its setting, and what the operator can do.
package struct ListeningService: Service {
    private let server: any Service
    private let scheme: String
    private let host: String
    private let port: Int
    private let setting: SettingDeclaration
    private let hostSetting: SettingDeclaration?

    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - host: The address, as the host of a URL.
    ///   - hostSetting: The setting that the address comes from, if there is one.
    ///   - port: The value of the setting.
    package init(
        _ server: any Service, scheme: String, host: String = "127.0.0.1", hostSetting: SettingDeclaration? = nil, port: Int,
        of setting: Setting<Int>
    ) {
        self.server = server
        self.scheme = scheme
        self.host = host
        self.port = port
        self.setting = setting.declaration
        self.hostSetting = hostSetting
    }

    /// - Throws: ``ListeningFailure``.
    package func run() async throws {
        do {
            try await server.run()
        } catch {
            throw ListeningFailure(description: "\(scheme)://\(host):\(port) cannot be served: \(reason(for: error))")
        }
    }

    /// The server's error comes from a library. If it does not name the system's reason, binding another socket to the port shows whether
    /// the port is the reason.
    private func reason(for error: any Error) -> String {
        let code = (error as? IOError).map { Errno(rawValue: $0.errnoCode) }
        switch code ?? LoopbackPort.obstacle(port) {
        case .addressInUse?:
            return "port \(port) is in use by another program; stop that program, or choose another port with \(setting.name)"
        case .permissionDenied?:
            return "port \(port) needs the rights of root; choose one from 1024 with \(setting.name)"
        case .addressNotAvailable?:
            return "this machine has no address \(host)" + (hostSetting.map { "; choose one of its own with \($0.name)" } ?? "")
        default: return code.map { String(cString: strerror($0.rawValue)) } ?? "\(error)"
        }
    }
}

/// A server could not listen or had to stop: the address and the reason.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let description: String
}
