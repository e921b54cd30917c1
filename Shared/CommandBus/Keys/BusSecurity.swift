package import Logging

/// What protects the `tcp://` endpoints of a bus. `ipc://` endpoints are protected by the modes of their files.
package enum BusSecurity: Sendable {
    /// Nothing does, so only endpoints on the loopback interface are allowed.
    case loopbackOnly
    /// Nothing does, and other machines may use them, since the operator has said so.
    case unencrypted
    /// CURVE: every connection is encrypted, and both sides know each other's key. Also on the loopback interface.
    case encrypted(KeyRing)

    /// Reads a list of peers.
    ///
    /// - Throws: ``PeerList/Problem``.
    package static func encrypted(
        with own: BusKeyPair, peersFile path: String, logger: Logger
    ) throws(PeerList.Problem) -> BusSecurity {
        .encrypted(try KeyRing(own: own, file: PeerFile(path: path), logger: logger))
    }

    var keyRing: KeyRing? {
        if case .encrypted(let ring) = self { ring } else { nil }
    }

    /// - Throws: ``BusError`` if the endpoint is on another interface, and nothing protects it.
    package func check(_ endpoint: Endpoint) throws(BusError) {
        guard case .loopbackOnly = self, case .tcp(.address(let host), _) = endpoint else { return }
        let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard Endpoint.isLoopback(address) != true else { return }
        throw BusError(
            .invalidEndpoint, "\(endpoint.text): \(host) is no loopback address such as 127.0.0.1, and \(Self.whatIsMissing)")
    }

    /// Completes an error.
    static let whatIsMissing =
        "the bus has no keys: anyone in the network could read and send commands. Make keys with \"msi keys\", and name them with "
        + "MSI_BUS_KEY_FILE and MSI_BUS_PEERS_FILE"
}
