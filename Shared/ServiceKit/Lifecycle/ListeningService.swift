package import ServiceLifecycle
import SystemPackage

/// An HTTP server on a port. Its failure names the port, its setting, and what the operator can do.
package struct ListeningService: Service {
    private let server: any Service
    private let scheme: String
    private let host: String
    private let port: Int
    private let setting: SettingDeclaration

    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - host: The address, as the host of a URL.
    ///   - port: The value of the setting.
    package init(
        _ server: any Service, scheme: String, host: String = "127.0.0.1", port: Int, of setting: Setting<Int>
    ) {
        self.server = server
        self.scheme = scheme
        self.host = host
        self.port = port
        self.setting = setting.declaration
    }

    /// - Throws: ``ListeningFailure``.
    package func run() async throws {
        do {
            try await server.run()
        } catch {
            throw ListeningFailure(description: "\(scheme)://\(host):\(port) cannot be served: \(reason(for: error))")
        }
    }

    /// The server's error comes from a library. Binding another socket to the port shows whether the port is the reason.
    private func reason(for error: any Error) -> String {
        switch LoopbackPort.obstacle(port) {
        case .addressInUse?:
            "port \(port) is in use by another program; stop that program, or choose another port with \(setting.name) (\(error))"
        case .permissionDenied?:
            "port \(port) needs the rights of root; choose one from 1024 with \(setting.name)"
        default: "\(error)"
        }
    }
}

/// A server could not listen or had to stop: the address and the reason.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let description: String
}
