import FoundationEssentials
import JSON

/// ``DeliveryOptions`` that somebody sent.
struct CheckedDeliveryOptions: Decodable {
    let options: DeliveryOptions

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case image, android, apns
        case collapseKey = "collapse_key"
        case analyticsLabel = "analytics_label"
    }

    init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        options = DeliveryOptions(
            image: try fields.optionalText(.image, .imageURL),
            collapseKey: try fields.optionalText(.collapseKey, .label),
            analyticsLabel: try fields.optionalText(.analyticsLabel, .label),
            android: try fields.optional(.android, as: Android.self).map { .init(channelID: $0.channelID) },
            apns: try fields.optional(.apns, as: APNs.self).map { .init(category: $0.category) })
        if let image = options.image, !Self.isImageURL(image) {
            throw fields.violation(.image, "expected an https:// URL with a host, of ASCII characters without a space")
        }
        for (key, label) in [(CodingKeys.collapseKey, options.collapseKey), (.analyticsLabel, options.analyticsLabel)] {
            guard let label else { continue }
            guard label.utf8.allSatisfy(Self.isLabelCharacter) else {
                throw fields.violation(key, "expected ASCII letters, digits and -_.~% alone")
            }
        }
    }

    private struct Android: Decodable {
        let channelID: String

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case channelID = "channel_id"
        }

        init(from decoder: any Decoder) throws {
            channelID = try StrictFields(of: decoder, as: CodingKeys.self).text(.channelID, .platformName)
        }
    }

    private struct APNs: Decodable {
        let category: String

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case category
        }

        init(from decoder: any Decoder) throws {
            category = try StrictFields(of: decoder, as: CodingKeys.self).text(.category, .platformName)
        }
    }

    private static func isImageURL(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && URL(string: text)?.host()?.isEmpty == false
    }

    /// What FCM takes in an analytics label: `[a-zA-Z0-9-_.~%]`.
    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

extension TextLimits {
    /// A picture's URL.
    fileprivate static let imageURL = TextLimits(most: 1_000)
    /// FCM's limit on analytics labels; a collapse key, with what tells the components apart, fits APNs's 64 bytes.
    fileprivate static let label = TextLimits(most: 50)
    /// A name that the app has given to something.
    fileprivate static let platformName = TextLimits(most: 200)
}
