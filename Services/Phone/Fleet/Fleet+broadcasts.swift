import Logging
import MobileApp

extension Fleet {
    /// Logs which broadcasts the phones show, and for which phones features are on, so that others can count.
    func logBroadcasts() async throws {
        var shown: [Int64: Int] = [:]
        for phone in phones {
            for card in try await phone.app.broadcasts.cards(language: "en") where card.origin == .hub {
                shown[card.number, default: 0] += 1
            }
        }
        for (id, count) in shown.sorted(by: { $0.key < $1.key }) {
            logger.info("shown", metadata: ["broadcast": "\(id)", "phones": "\(count)"])
        }
        logger.info("taken over twice", metadata: ["broadcasts": "\(broadcastLedger.doubled)"])
        try await logFeatures("feature", from: 0)
    }

    /// Logs the features that are on, with the numbers of the phones.
    ///
    /// - Parameter first: The phones before this one are left out.
    func logFeatures(_ message: Logger.Message, from first: Int) async throws {
        var on: [String: [Int]] = [:]
        for (index, phone) in phones.enumerated().dropFirst(first) {
            for feature in try await phone.app.broadcasts.features() where feature.isOn {
                on[feature.name, default: []].append(index)
            }
        }
        for (name, phones) in on.sorted(by: { $0.key < $1.key }) {
            let list = phones.map(String.init).joined(separator: ",")
            logger.info(message, metadata: ["feature": "\(name)", "phones": "\(list)"])
        }
    }
}
