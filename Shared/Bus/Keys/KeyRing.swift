package import Logging
import Synchronization

/// The keys of a bus: the machine's own pair, and those of its peers.
///
/// Any thread reads them. The bus thread renews them (``PeerGate``).
package final class KeyRing: Sendable {
    private struct State {
        var peers: PeerList
        var file: PeerFile
        /// Where this bus listens.
        var own: Set<Endpoint> = []
    }

    let own: BusKeyPair
    private let logger: Logger
    private let state: Mutex<State>
    private let revoked = Atomic<Int>(0)

    init(own: BusKeyPair, file: PeerFile, logger: Logger) throws(PeerList.Problem) {
        var file = file
        let peers = try file.list()
        self.own = own
        self.logger = logger
        state = Mutex(State(peers: peers, file: file))
    }

    /// How often keys were taken from the list. After a change, connections of such peers must end.
    var revocations: Int { revoked.load(ordering: .acquiring) }

    /// The keys that the service at an endpoint may have.
    package func keys(of endpoint: Endpoint) -> [BusKey] {
        guard case .tcp(let host, _) = endpoint else { return [] }
        return state.withLock { state in
            let keys = state.peers.keys(of: host.name)
            // A service checks itself through its own endpoint.
            let isOwn = state.own.contains(endpoint) || host.isThisMachine
            return isOwn && !keys.contains(own.publicKey) ? keys + [own.publicKey] : keys
        }
    }

    /// The name of a peer that may connect; `nil` if the key is not in the list. Processes of the same machine may.
    func name(of key: BusKey) -> String? {
        state.withLock { $0.peers.name(of: key) } ?? (key == own.publicKey ? "this machine" : nil)
    }

    /// Notes that this bus listens at an endpoint.
    func listens(at endpoint: Endpoint) {
        state.withLock { _ = $0.own.insert(endpoint) }
    }

    /// Reads the file again if it has changed. If it has a mistake, the last list stays in use.
    func renew() {
        let outcome: (before: PeerList, after: Result<PeerList, PeerList.Problem>)? = state.withLock { state in
            guard state.file.hasChanged() else { return nil }
            let before = state.peers
            do throws(PeerList.Problem) {
                let peers = try state.file.list()
                // An editor may have emptied the file, and not written it yet.
                guard peers.count > 0 || before.count == 0 else { throw PeerList.Problem(description: "the list is empty") }
                state.peers = peers
                return (before, .success(peers))
            } catch {
                return (before, .failure(error))
            }
        }
        guard let outcome else { return }
        switch outcome.after {
        case .success(let peers):
            let isShorter = outcome.before.hasKeys(missingIn: peers)
            if isShorter { revoked.add(1, ordering: .releasing) }
            logger.notice(
                "the list of the bus's peers was read again",
                metadata: ["keys": "\(peers.count)", "keys_were_removed": "\(isShorter)"])
        case .failure(let problem):
            logger.error(
                "the list of the bus's peers has changed, and has a mistake; the last one stays in use",
                metadata: ["error": "\(problem)"])
        }
    }
}

extension Endpoint.Host {
    /// As in the list of peers: an IPv6 address is without its brackets.
    fileprivate var name: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.hasPrefix("[") ? String(address.dropFirst().dropLast()) : address
        }
    }

    /// Whether it is this machine for a client, whatever its name: the loopback interface, or every interface.
    fileprivate var isThisMachine: Bool {
        ["localhost", "0.0.0.0", "::"].contains(name) || Endpoint.isLoopback(name) == true
    }
}

/// What protects the `tcp://` endpoints of a bus. `ipc://` endpoints are protected by the modes of their files.
package enum BusSecurity: Sendable {
    /// No protection: only endpoints on the loopback interface are allowed.
    case loopbackOnly
    /// No protection, and endpoints on every interface: the operator has allowed it.
    case unencrypted
    /// CURVE: every connection is encrypted, and both sides know each other's key. This includes the loopback interface.
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
