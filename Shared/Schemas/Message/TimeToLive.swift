/// The longest time to live that FCM keeps a message for, and its default: four weeks, in seconds.
package let maxTimeToLive: Int64 = 2_419_200
