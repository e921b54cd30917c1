/// The machines whose processes may use the bus, by name: the content of the file that `MSI_BUS_PEERS_FILE` names.
///
/// ```
/// # name          public key
/// hub-1.uni.edu   rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7
/// hub-2.uni.edu   Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID
/// ```
///
/// The name is the host as in the endpoints, so that a client knows the key of the service it connects to. A name may have several
/// keys, for example while a key is replaced.
package struct PeerList: Hashable, Sendable {
    private var keys: [String: [BusKey]] = [:]
    private var names: [BusKey: String] = [:]

    /// The problem of a list, with its line.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package init(parsing text: String) throws(Problem) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let name = words.first.map({ String($0).lowercased() }), !name.hasPrefix("#") else { continue }
            // The line's text is left out: it may be a secret key by mistake.
            guard words.count == 2 else {
                throw Problem(description: "line \(index + 1): expected a name and a public key, found \(words.count) words")
            }
            guard let key = BusKey(words[1]) else {
                throw Problem(
                    description: "line \(index + 1): the key of \(name.prefix(100)) is not a public key of 40 characters (Z85)")
            }
            if let other = names[key], other != name {
                throw Problem(description: "line \(index + 1): \(name.prefix(100)) has the key of \(other.prefix(100))")
            }
            guard names.updateValue(name, forKey: key) == nil else { continue }
            keys[name, default: []].append(key)
        }
    }

    /// The keys of the machine with this name, in the order of the file.
    package func keys(of name: String) -> [BusKey] { keys[name.lowercased()] ?? [] }

    /// The name of the machine with this key.
    package func name(of key: BusKey) -> String? { names[key] }

    package var count: Int { names.count }

    /// Whether another list lacks a key of this one.
    func hasKeys(missingIn other: PeerList) -> Bool { names.keys.contains { other.names[$0] == nil } }
}
