/// Splits a cube that is too large for one reply into pages. The reader assembles them again.
///
/// A page contains whole subjects. If a channel does not fit into a page, the next page begins with the same channel, by its
/// `_id`, and contains further areas of it. The same applies to an area, by its `id`.
package enum CubePages {
    /// The maximum size of a page, and of a cube in one reply, in bytes. A reply may have 16 MiB.
    package static let maxBytes: Int64 = 12 << 20

    /// Splits a cube into pages.
    ///
    /// - Parameter maxBytes: The maximum size of a page, in bytes of JSON. Only a page with a single subject may exceed it.
    package static func cut(_ channels: [Channel], maxBytes: Int64 = maxBytes) throws -> [[Channel]] {
        var cutter = Cutter(maxBytes: maxBytes)
        for channel in channels { try cutter.add(channel) }
        return cutter.pages
    }

    /// Assembles all pages of a cube, in their order.
    package static func join(_ pages: [[Channel]]) -> [Channel] {
        var channels: [Channel] = []
        for channel in pages.joined() {
            guard let last = channels.indices.last, channels[last].id == channel.id else {
                channels.append(channel)
                continue
            }
            for area in channel.areas {
                guard let lastArea = channels[last].areas.indices.last, channels[last].areas[lastArea].id == area.id else {
                    channels[last].areas.append(area)
                    continue
                }
                channels[last].areas[lastArea].subjects += area.subjects
            }
        }
        return channels
    }

    private struct Cutter {
        let maxBytes: Int64
        private(set) var pages: [[Channel]] = [[]]
        private var used: Int64 = 0

        init(maxBytes: Int64) {
            self.maxBytes = maxBytes
        }

        mutating func add(_ channel: Channel) throws {
            let head = channel.withoutAreas
            let headSize = try CubeSize.of(head)
            makeRoom(for: headSize)
            append(head, headSize)
            for area in channel.areas {
                let areaHead = area.withoutSubjects
                let areaSize = try CubeSize.of(areaHead)
                if makeRoom(for: areaSize) { append(head, headSize) }
                append(areaHead, areaSize)
                for subject in area.subjects {
                    let size = try CubeSize.of(subject)
                    if makeRoom(for: size) {
                        append(head, headSize)
                        append(areaHead, areaSize)
                    }
                    used += size
                    withLastChannel { $0.areas[$0.areas.count - 1].subjects.append(subject) }
                }
            }
        }

        /// - Returns: Whether a new page was begun.
        @discardableResult
        private mutating func makeRoom(for size: Int64) -> Bool {
            guard used > 0, used + size > maxBytes else { return false }
            pages.append([])
            used = 0
            return true
        }

        private mutating func append(_ channel: Channel, _ size: Int64) {
            used += size
            pages[pages.count - 1].append(channel)
        }

        private mutating func append(_ area: Area, _ size: Int64) {
            used += size
            withLastChannel { $0.areas.append(area) }
        }

        private mutating func withLastChannel(_ change: (inout Channel) -> Void) {
            let page = pages.count - 1
            change(&pages[page][pages[page].count - 1])
        }
    }
}
